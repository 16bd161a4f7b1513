import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory } from '../front/story.js';
import { type Explored, explore } from './explored.js';

let explored: Explored;
beforeAll(async () => {
  const story = await openStory();
  story.at('17 08:00');
  for (const [slug, path] of [
    ['kettles', 'Home > Kitchen > Kettles'],
    ['woks', 'Home > Kitchen > Pans > Woks'],
    ['lamps', 'Home > Lamps'],
    ['toys', 'Toys & Games'],
  ] as const) {
    const name = path.split(' > ').at(-1) ?? path;
    const product = {
      brand: 'Acme',
      mpn: slug,
      title: name,
      category: { slug, name, path, source: 'MANUAL' as const },
    };
    story.add({ ...product, siteId: 11n, price: 1_000 });
    story.add({ ...product, siteId: 22n, price: 1_250 });
  }
  await story.run();
  explored = await explore(story);
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

/** Names of categories with their depth, in the order of the page. */
const readTree = (page: string) =>
  [...page.matchAll(/<span class="depth-(\d)"><a href="([^"]*)"><bdi>(.*?)<\/bdi>/gu)].map(
    ([, depth, address, name]) => `${depth} ${name?.replaceAll('&gt;', '>').replaceAll('&amp;', '&')} ${address}`,
  );

test('categories form a tree in which each name appears once', async () => {
  expect(readTree(await explored.page('/categories?currency=EUR'))).toEqual([
    '0 Home > Kitchen > Kettles /products?category=kettles&amp;currency=EUR&amp;min_shops=2',
    '2 Pans > Woks /products?category=woks&amp;currency=EUR&amp;min_shops=2',
    '1 Lamps /products?category=lamps&amp;currency=EUR&amp;min_shops=2',
    '0 Toys & Games /products?category=toys&amp;currency=EUR&amp;min_shops=2',
  ]);
});

test('in another order, categories show their full paths', async () => {
  const tree = readTree(await explored.page('/categories?sort=widest&order=desc'));
  expect(tree.map((line) => line.slice(0, line.indexOf(' /')))).toContain('0 Home > Kitchen > Pans > Woks');
});

test('the page draws spreads by category, by size and by day if there are any', async () => {
  const page = await explored.page('/categories');
  expect(page).toContain('Histogram of price spreads of 4 products');
  expect(
    page.match(/aria-label="median [\d.]+\u00a0%, half of all between [\d.]+\u00a0% and [\d.]+\u00a0%"/gu),
  ).toHaveLength(4);
});
