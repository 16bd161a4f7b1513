/** Scale errors and clearances in past prices, as analyses show them to a user. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/pricelake.js';
import { openStory, type Story } from './story.js';

let story: Story;
beforeAll(async () => {
  story = await openStory();
  story.at('10 08:00');
  const radio = story.add({ brand: 'Acme', mpn: 'R-1', title: 'Radio', price: 5426 });
  const milk = story.add({ brand: 'Alm', mpn: 'M-1', title: 'Milk', price: 299, siteId: 33n });
  story.at('12 08:00');
  story.change(radio, { price: 54_260 });
  story.change(milk, { price: 319 });
  story.at('13 08:00');
  story.change(radio, { price: 5426 });
  story.change(milk, { price: 299 });
  story.at('15 08:00');
  story.change(milk, { price: 30 });
  story.at('17 08:00');
  story.remove(milk);
  story.at('20 08:00');
  story.add({ title: 'Pen' });
  await story.run();
});
afterAll(() => story.close());

async function query(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await runHere(['query', ...args, '--lake', story.lakePath, '--format', 'ndjson']);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

test('if a price returns to its earlier level, it is correct, and the price in between is suspect', async () => {
  const spells = await query(
    "SELECT price, is_suspect FROM price_spells WHERE product_id = 'acme-r1' ORDER BY from_at",
  );
  expect(spells.map(({ price, is_suspect }) => [Number(price), is_suspect])).toEqual([
    [54.26, false],
    [542.6, true],
    [54.26, false],
  ]);
});

test('lows and highs use the corrected price', async () => {
  const [all] = (await query('--analysis', 'lows_highs', '--set', 'product=acme-r1')).filter(
    ({ days }) => days === null,
  );
  expect(all).toMatchObject({ price: 54.26, lowest: 54.26, highest: 54.26 });
});

test('a clearance before the shop stops listing the item is a normal price', async () => {
  const spells = await query(
    "SELECT price FROM price_spells WHERE product_id = 'alm-m1' AND NOT is_suspect ORDER BY from_at",
  );
  expect(spells.map(({ price }) => Number(price))).toEqual([2.99, 3.19, 2.99, 0.3]);
});
