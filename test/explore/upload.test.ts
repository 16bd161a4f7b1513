import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
beforeAll(async () => {
  explored = await explore(await copyMarket());
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

/** Sends a list as a browser does, from a page of this server or of another one. */
function send(
  list: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData();
  if (list !== '') form.set('list', new File([list], 'mine.csv', { type: 'text/csv' }));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return explored.get('/list', { method: 'POST', body: form, headers });
}

test('an uploaded list is shown until it is replaced or removed', async () => {
  expect(await explored.page('/list')).toContain('type="file"');
  const sent = await send('product,price,lowest\nacme-r1,105,90\nnone-1,5,\n', { currency: 'EUR' });
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/list']);
  const page = await explored.page('/list');
  expect(page).toContain('Rádio Nôtre 7');
  expect(page).toContain('no listing of this product');
  expect(await explored.page('/')).toMatch(
    /Of the 2 lines of <a href="\/list">your list<\/a>, shops are cheaper than you for 1, and below your lowest allowed price for 1\./u,
  );
  await send('product,price\nacme-r1,1\n', { currency: 'EUR', own_site: '33' });
  expect(await explored.page('/')).toContain('Of the 1 line of');
  expect((await send('')).status).toBe(303);
  expect(await explored.page('/list')).toContain('discarded when explore stops');
});

test('another list is compared with the prepared rows, without preparing them again', async () => {
  await explored.page('/');
  const before = await findVersions();
  await send('product,price\nacme-r1,105\n', { currency: 'EUR' });
  expect(await explored.page('/list')).toContain('Rádio Nôtre 7');
  expect(await findVersions()).toEqual(before);
});

test('an invalid list is refused with its line, and the current list stays', async () => {
  await send('product,price\nacme-r1,105\n', { currency: 'EUR' });
  const wrong = await send('product,price\nacme-r1,a lot\n', { currency: 'EUR' });
  expect(wrong.status).toBe(400);
  const text = await wrong.text();
  expect(text).toMatch(/the list:2|the list.{0,20}2/u);
  expect(text).not.toContain(tmpdir());
  for (const fields of [{ currency: 'euro' }, { own_site: 'x' }]) {
    expect((await send('product,price\nacme-r1,1\n', fields)).status).toBe(400);
  }
  expect(await explored.page('/')).toContain('Of the 1 line of');
});

/** The headers that browsers send with another site's form; older browsers send no Sec-Fetch-Site. */
const FOREIGN: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'http://localhost:1' },
  { origin: 'null' },
];

test('a list that is too large, a form of another site and a request without the secret are refused', async () => {
  const large = await send(`product,price\n${'acme-r1,105\n'.repeat(800_000)}`);
  expect(await large.text()).toContain('A list has at most 8 MB');
  for (const headers of FOREIGN) {
    expect((await send('product,price\nacme-r1,105\n', {}, headers)).status).toBe(403);
  }
  expect((await send('product,price\nacme-r1,105\n', {}, { origin: explored.base })).status).toBe(303);
  const form = new FormData();
  form.set('list', new File(['product,price\n'], 'mine.csv'));
  expect((await fetch(`${explored.base}/list`, { method: 'POST', body: form })).status).toBe(403);
  expect((await explored.get('/products', { method: 'POST', body: form })).status).toBe(405);
});

test('an uploaded list is deleted when another one replaces it, and when explore ends', async () => {
  const other = await explore(explored.story);
  const form = new FormData();
  form.set('list', new File(['product,price,currency\nonly-here,105,EUR\n'], 'mine.csv'));
  expect((await other.get('/list', { method: 'POST', body: form })).status).toBe(303);
  expect(await findLists('only-here')).toHaveLength(1);
  form.set('list', new File(['product,price,currency\nonly-later,105,EUR\n'], 'mine.csv'));
  await other.get('/list', { method: 'POST', body: form });
  expect([await findLists('only-here'), (await findLists('only-later')).length]).toEqual([[], 1]);
  await other.close();
  expect(await findLists('only-later')).toEqual([]);
  expect(await findLists('only-here')).toEqual([]);
});

/** Sent lists that have a word. */
async function findLists(word: string): Promise<string[]> {
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith('pricelake-lists-'));
  const found: string[] = [];
  for (const folder of folders.map((name) => path.join(tmpdir(), name))) {
    // Other tests remove theirs meanwhile.
    for (const name of await readdir(folder).catch(() => [])) {
      const text = await readFile(path.join(folder, name), 'utf8').catch(() => '');
      if (text.includes(word)) found.push(name);
    }
  }
  return found;
}

/** Folders of the versions that this process has open. */
const findVersions = async () =>
  (await readdir(tmpdir()))
    .filter((name) => name.startsWith('pricelake-explore-') && name.includes(`-${process.pid}-`))
    .sort();
