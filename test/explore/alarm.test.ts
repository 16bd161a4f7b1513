/** Tests alarms that are set on a product's page, previewed, and then written to the reader's own CSV file. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

const LIST = 'product,price,currency,note\nacme-r1,105.00,EUR,"mine, since May"\n';
let explored: Explored<StoryLake>;
let folder: string;
let list: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explore-alarm-'));
  list = join(folder, 'mine.csv');
  await writeFile(list, LIST);
  explored = await explore(await copyMarket(), { list });
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  if ((await readFile(list, 'utf8')) === LIST) return;
  await writeFile(list, LIST);
  await explored.page('/list');
});

const ALARM = { product: 'acme-r1', currency: 'EUR', price: '105', lowest: '90', highest: '' };
const preview = (set: Partial<typeof ALARM> = {}) =>
  explored.page(`/alarm?${new URLSearchParams({ ...ALARM, ...set })}`);
const readDigest = (page: string) => /name="digest" value="(\w+)"/u.exec(page)?.[1] ?? '';

function send(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return explored.get('/alarm', { method: 'POST', body: form, headers });
}

test('an alarm is previewed without writing anything, then written to the list, and pages raise it', async () => {
  const product = await explored.page('/products/acme-r1');
  expect(product).toContain('<form class="filters" action="/alarm">');
  expect(product).toContain('name="price" value="105.00"');
  const page = await preview();
  expect(page).toContain('<del>acme-r1,105.00,EUR,&quot;mine, since May&quot;</del>');
  expect(page).toContain('<ins>acme-r1,105,EUR,&quot;mine, since May&quot;,90</ins>');
  expect(page).toMatch(/1 offer below 90 EUR now: <bdi>Market<\/bdi>/u);
  expect(await readFile(list, 'utf8')).toBe(LIST);
  const answer = await send({ ...ALARM, digest: readDigest(page) });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/products/acme-r1?currency=EUR']);
  expect(await readFile(list, 'utf8')).toBe(
    'product,price,currency,note,lowest\nacme-r1,105,EUR,"mine, since May",90\n',
  );
  await expect
    .poll(() => explored.page('/list'), { timeout: 20_000 })
    .toMatch(/data-label="Below allowed"><bdi>Market<\/bdi>/u);
});

test('a product that the list lacks gets a line at its end', async () => {
  const wanted = { product: 'bead-b1', price: '0,12', lowest: '' };
  const page = await preview(wanted);
  await send({ ...ALARM, ...wanted, digest: readDigest(page) });
  expect(await readFile(list, 'utf8')).toBe(`${LIST}bead-b1,0.12,EUR,\n`);
});

test('nothing is written without a preview, or if the list has changed since the preview', async () => {
  const page = await preview();
  const changed = `${LIST}bead-b2,1.00,EUR,\n`;
  await writeFile(list, changed);
  for (const digest of [readDigest(page), '']) {
    const answer = await send({ ...ALARM, digest });
    expect(await answer.text()).toContain('has changed since the preview');
  }
  expect(await readFile(list, 'utf8')).toBe(changed);
});

/** Of a valid preview of the list as it is. */
let digest = '';
test.each([
  [{ price: '' }, 'is not a valid price. Enter a number such as 12.99'],
  [{ price: '1e3' }, 'is not a valid price. Enter a number such as 12.99'],
  [{ lowest: '-1' }, 'is not a valid price. Enter a number such as 12.99'],
  [{ lowest: '20', highest: '10' }, 'lowest 20 is above highest 10'],
  [{ price: '0' }, 'price is 0'],
  [{ currency: 'E"R' }, 'currency such as EUR'],
  [{ product: '' }, 'needs a product'],
])('%j is refused, and nothing is written', async (wrong, reason) => {
  digest ||= readDigest(await preview());
  expect(await preview(wrong)).toContain(reason);
  await send({ ...ALARM, ...wrong, digest });
  expect(await readFile(list, 'utf8')).toBe(LIST);
});

test('a page of another site can write nothing, even with the cookie', async () => {
  const digest = readDigest(await preview());
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ]) {
    expect((await send({ ...ALARM, digest }, headers)).status).toBe(403);
  }
  expect(await readFile(list, 'utf8')).toBe(LIST);
});

test("a list uploaded by the browser has no alarms, because it isn't a file of the reader", async () => {
  const form = new FormData();
  form.set('list', new File(['product,price,currency\nacme-r1,9.99,EUR\n'], 'sent.csv'));
  await explored.get('/list', { method: 'POST', body: form });
  expect(await explored.page('/products/acme-r1')).not.toContain('action="/alarm"');
  expect((await explored.get(`/alarm?${new URLSearchParams(ALARM)}`)).status).toBe(404);
});
