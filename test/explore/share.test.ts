/** Tests pages for colleagues, who can read everything but change nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RateLimit } from '../../src/explore/rate-limit.js';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
beforeAll(async () => {
  explored = await explore(await copyMarket(), { share: true });
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

test('with --share, pages have no forms that change anything, no SQL, and no local paths', async () => {
  for (const path of ['/', '/products', '/products/acme-r1', '/shops', '/list', '/copy', '/analyses/movers.csv']) {
    expect([path, (await explored.get(path)).status]).toEqual([path, 200]);
    const page = await explored.page(path);
    expect(page).not.toContain('method="post"');
    expect(page).not.toContain('href="/sql"');
    expect(page).not.toContain(explored.story.lakePath);
  }
  for (const path of ['/sql?sql=SELECT+1', '/views', '/alarm?product=acme-r1']) {
    expect([path, (await explored.get(path)).status]).toEqual([path, 404]);
  }
});

test.each(['/list', '/views', '/views/remove', '/alarm', '/'])(
  'with --share, nothing can be sent to %s',
  async (path) => {
    const form = new FormData();
    form.set('name', 'x');
    form.set('address', '/');
    expect((await explored.get(path, { method: 'POST', body: form })).status).toBe(405);
  },
);

test('with --share, a request without the secret gets nothing', async () => {
  expect((await fetch(`${explored.base}/`)).status).toBe(403);
});

test('a client with too many requests has to wait', async () => {
  const statuses = new Set<number>();
  for (let n = 0; n < 300; n++) statuses.add((await explored.get('/page.css')).status);
  expect([...statuses]).toEqual([200, 429]);
});

test('each address has its own request limit, which recovers with time', () => {
  let now = 0;
  const limit = new RateLimit(() => now);
  const takeAll = (address: string) => {
    let taken = 0;
    while (limit.take(address)) taken += 1;
    return taken;
  };
  expect([takeAll('a'), takeAll('a'), takeAll('b')]).toEqual([120, 0, 120]);
  now = 2_000;
  expect(takeAll('a')).toBe(10);
  now = 3_600_000;
  expect(takeAll('a')).toBe(120);
});
