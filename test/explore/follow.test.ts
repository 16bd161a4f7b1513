/** Tests that pages follow the lake. */
import { rm } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { listPublishedFiles } from '../front/published-files.js';
import { type Explored, explore, tellMarket } from './explored.js';

let explored: Explored;
afterEach(async () => {
  await explored.close();
  await explored.story.close();
});

test('pages show a new run without a restart', async () => {
  explored = await explore(await tellMarket());
  const { story } = explored;
  expect(await explored.page('/')).toContain('as of run 3,');
  story.add({ brand: 'New', mpn: 'N-1', title: 'Newcomer', siteId: 11n, price: 100 });
  await story.run();
  // The page that notices the run may still show the one before.
  await vi.waitFor(async () => expect(await explored.page('/')).toContain('as of run 4,'), {
    timeout: 10_000,
    interval: 50,
  });
  expect(await explored.page('/products?q=newcomer')).toContain('Newcomer');
});

test('a page whose files were removed by a run is built from the new files', async () => {
  explored = await explore(await tellMarket());
  const { story } = explored;
  const before = listPublishedFiles(story.lakePath).get('items') ?? [];
  story.alter(story.add({ brand: 'New', mpn: 'N-1', title: 'Newcomer', siteId: 11n, price: 100 }), {});
  await story.run();
  const after = listPublishedFiles(story.lakePath).get('items') ?? [];
  for (const file of before.filter((one) => !after.includes(one))) await rm(file, { force: true });
  const answer = await explored.get('/analyses/offers?product=new-n1');
  expect(answer.status).toBe(200);
});
