/** A listing that changes its currency. The service shows its earlier changes with its current currency. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/pricelake.js';
import { openStory, type Story } from './story.js';

let story: Story;
beforeAll(async () => {
  story = await openStory({ habits: { daily: 5 } });
  story.at('16 08:00');
  const radio = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };
  for (const siteId of [11n, 33n]) story.add({ ...radio, siteId, price: 10_000, currency: 'EUR' });
  const moved = story.add({ ...radio, siteId: 22n, price: 240_000, currency: 'CZK' });
  story.at('17 08:00');
  story.change(moved, { price: 250_000 });
  story.at('19 08:00');
  story.change(moved, { price: 10_100, currency: 'EUR' });
  story.at('21 08:00');
  story.add({ title: 'Pen' });
  await story.run();
});
afterAll(() => story.close());

async function query(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await runHere(['query', ...args, '--lake', story.lakePath, '--format', 'ndjson']);
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a listing that changes its currency has each price in the currency of its time', async () => {
  const spells = await query(
    'SELECT price, currency, price_before FROM price_spells WHERE site_id = 22 ORDER BY from_at',
  );
  expect(spells.map(({ price, currency, price_before }) => [Number(price), currency, price_before])).toEqual([
    [2400, 'CZK', null],
    [2500, 'CZK', expect.anything()],
    [101, 'EUR', null],
  ]);
});

test("a listing that changes its currency isn't compared with shops of another currency on earlier days", async () => {
  const days = await story.read(
    "SELECT CAST(day AS VARCHAR), shops, max FROM price_spread_daily WHERE product_id = 'acme-r1' AND currency = 'EUR' ORDER BY day",
  );
  expect(days).toEqual(
    ['16', '17', '18']
      .map((day) => `2026-11-${day} | 2 | 100.0000`)
      .concat(['19', '20'].map((day) => `2026-11-${day} | 3 | 101.0000`)),
  );
});

test("a change of currency doesn't count as a fall in price", async () => {
  const moves = await query('--analysis', 'movers', '--set', 'since=2026-11-18');
  expect(moves.filter(({ kind }) => kind === 'fall')).toEqual([]);
});
