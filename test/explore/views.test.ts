/** Tests the views that a reader saves in the lake's folder, which appear in the menu and are never treated as paths or HTML. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
let file: string;
beforeAll(async () => {
  explored = await explore(await copyMarket());
  file = join(explored.story.lakePath, '_pricelake', 'views.json');
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

function send(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return explored.get(path, { method: 'POST', body: form, headers });
}

const save = (name: string, address: string) => send('/views', { name, address });
const readViews = async () => (JSON.parse(await readFile(file, 'utf8')) as { views: object[] }).views;

test('a view saves a page with its filters and columns, appears in every menu, and survives a restart', async () => {
  const address = '/products?q=radio&hide=brand&hide=grade';
  const answer = await save('Radios', `${address}&part=found&token=secret`);
  expect([answer.status, answer.headers.get('location')]).toEqual([303, address]);
  expect(await readViews()).toEqual([{ name: 'Radios', address }]);
  const again = await explore(explored.story);
  const page = await again.page('/shops');
  expect(page).toContain(`<a href="${address.replaceAll('&', '&amp;')}"><bdi>Radios</bdi></a>`);
  const shown = await again.page(address);
  expect(shown).toContain('data-name="shops"');
  expect(shown).not.toContain('data-name="brand"');
  await again.close();
});

test("a view's name is never used as a path or HTML, and a second view with the name replaces the first", async () => {
  const name = '../../../items/<script>alert(1)</script>';
  expect((await save(name, '/shops')).status).toBe(303);
  expect((await save(name, '/categories')).status).toBe(303);
  const page = await explored.page('/');
  expect(page).toContain('../../../items/&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(page).not.toContain('<script>alert');
  expect(await readViews()).toContainEqual({ name, address: '/categories' });
  expect((await readdir(join(explored.story.lakePath, '_pricelake'))).filter((one) => one.includes('view'))).toEqual([
    'views.json',
  ]);
  await send('/views/remove', { name });
  expect(await explored.page('/views')).not.toContain('script&gt;alert');
});

test.each([
  ['', '/shops'],
  ['x'.repeat(61), '/shops'],
  ['a', 'https://evil.example/'],
  ['a', '//evil.example/'],
  ['a', '/\\evil.example/'],
  ['a', 'javascript:alert(1)'],
  ['a', `/products?q=${'x'.repeat(2001)}`],
])('a view named %j at %j is refused', async (name, address) => {
  expect((await save(name, address)).status).toBe(400);
  expect(await readFile(file, 'utf8')).not.toContain('evil');
});

test("another site can't save a view, and at most 50 are saved", async () => {
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await send('/views', { name: 'x', address: '/' }, foreign)).status).toBe(403);
  for (let n = (await readViews()).length; n < 50; n++) await save(`View ${n}`, `/products?q=${n}`);
  const answer = await save('One more', '/');
  expect(await answer.text()).toContain('you can save at most 50 views');
  expect(await readViews()).toHaveLength(50);
});

test('a file of views by another program is reported and kept, and pages are still shown', async () => {
  const before = await readFile(file, 'utf8');
  await writeFile(file, '{"views": [{"name": "x", "address": "javascript:alert(1)"}]}');
  const page = await explored.page('/shops');
  expect(page).not.toContain('javascript:');
  expect(page).toContain('<a href="/views">Views</a>');
  expect(await explored.page('/views')).toContain('contain saved views in pricelake');
  expect((await save('y', '/shops')).status).toBe(400);
  await writeFile(file, before);
});
