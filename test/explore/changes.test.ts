/** Tests the change beside each figure and its start, on a market with a known past. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Explored, explore } from './explored.js';

let story: Story;
let explored: Explored;
beforeAll(async () => {
  story = await openStory();
  story.pipeline.analysis.daily = 60;
  const coffee = { gtin: '4006381333931', title: 'Coffee', currency: 'EUR' };
  const other = (n: number) => ({ brand: 'Acme', mpn: `X-${n}`, title: `Other ${n}`, currency: 'EUR', price: 500 });
  story.world.now = BigInt(Date.parse('2026-10-10T00:00:00Z')) * 1_000_000n;
  const kiosk = story.add({ ...coffee, siteId: 11n, price: 10_000 });
  story.add({ ...coffee, siteId: 22n, price: 12_000 });
  const market = story.add({ ...coffee, siteId: 33n, price: 11_000 });
  const removed = story.add({ ...other(1), siteId: 22n });
  const relisted = story.add({ ...other(2), siteId: 22n });
  story.at('01 00:00');
  story.change(kiosk, { price: 9_000 });
  story.at('02 00:00');
  story.remove(relisted);
  story.at('06 00:00');
  story.relist(relisted);
  story.at('08 00:00');
  story.remove(removed);
  story.at('10 00:00');
  story.add({ ...coffee, siteId: 44n, price: 13_000 });
  story.add({ ...other(3), siteId: 44n });
  story.add({ ...other(4), siteId: 44n });
  // A source that was not seen for weeks doesn't count.
  story.at('15 00:00');
  story.change(market, { title: 'Coffee, 500 g' });
  story.at('20 00:00');
  story.change(kiosk, { title: 'Coffee 500 g' });
  await story.run();
  explored = await explore(story);
});
afterAll(async () => {
  await explored.close();
  await story.close();
});

/** Each figure with its note. */
function readFigures(page: string): Record<string, string> {
  const figures = [...page.matchAll(/<dt>(.*?)<\/dt><dd>([\s\S]*?)<\/dd>/gu)];
  const toText = (html = '') =>
    html
      .replaceAll(/<br>/gu, ' ')
      .replaceAll(/<[^>]*>/gu, '')
      .replaceAll(/\s+/gu, ' ')
      .trim();
  return Object.fromEntries(figures.map(([, name, value]) => [toText(name), toText(value)]));
}

test('a product shows how its prices changed in 30 days', async () => {
  const figures = readFigures(await explored.page('/products/4006381333931'));
  // On 21 October: 100, 110 and 120. Now: 90, 110, 120 and 130.
  expect(figures['Lowest, stock not known']).toMatch(/^90\.00 EUR Kiosk, .* -10\.0 % since 21 Oct 2026$/u);
  expect(figures.Median).toBe('115.00 EUR +4.5 % since 21 Oct 2026');
  expect(figures['Most expensive']).toBe('130.00 EUR +8.3 % since 21 Oct 2026');
  expect(figures.Spread).toMatch(/^44\.4 % .* \+24\.4 points since 21 Oct 2026$/u);
  expect(figures.Shops).toBe('4 +1 since 21 Oct 2026');
});

test('Today shows how the copy and the median spread changed since the chosen time', async () => {
  const figures = readFigures(await explored.page('/?date=2026-11-05'));
  // One listing was removed, one was re-listed, and three were added, of two new products and at a new shop.
  expect(figures.Listings).toBe('7 +3 since the beginning of 5 Nov 2026');
  expect(figures.Products).toBe('4 +2 since the beginning of 5 Nov 2026');
  expect(figures.Shops).toBe('4 +1 since the beginning of 5 Nov 2026');
  // 120 over 90 on the 5th, and 130 over 90 on the last closed day.
  expect(figures['Median spread']).toBe('44.4 % +11.1 points from 5 Nov 2026 to 19 Nov 2026');
});
