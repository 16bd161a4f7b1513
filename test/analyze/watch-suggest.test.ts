import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CREDIT,
  file,
  GTINS,
  judged,
  type Line,
  lines,
  makeGtin,
  OWN_SITE,
  own,
  type Row,
  readRows,
  SHOPS,
  world,
} from '../cli/watch-market.js';

const toUnits = (price: number) => BigInt(Math.round(price * 10_000));
const showUnits = (units: bigint) => (Number(units) / 10_000).toFixed(4).replace(/(\.\d{2}\d*?)0+$/u, '$1');

function expectSuggestion(one: Line, by: string, percent: number) {
  const offered = judged.filter(({ gtin, siteId }) => gtin === one.gtin && siteId !== OWN_SITE);
  const counted = offered.filter(({ isCounted }) => isCounted);
  const known = [...new Set((counted.length > 0 ? counted : offered).map(({ currency }) => currency))];
  const currency = one.currency || (known.length === 1 ? known[0] : undefined);
  const shops = new Map<number, { units: bigint; siteId: number }>();
  for (const { siteId, price } of counted.filter((offer) => offer.currency === currency)) {
    const units = toUnits(price);
    if (units < (shops.get(siteId)?.units ?? units + 1n)) shops.set(siteId, { units, siteId });
  }
  const ranked = [...shops.values()].sort((a, b) => Number(a.units - b.units) || a.siteId - b.siteId);
  const middle = [ranked[(ranked.length - 1) >> 1], ranked[ranked.length >> 1]] as const;
  const [low, high] = by === 'median' ? middle : by === 'second' ? [ranked[1], ranked[1]] : [ranked[0], ranked[0]];
  const basis = low === undefined || high === undefined ? undefined : low.units + high.units;
  const share = BigInt(Math.round((100 - percent) * 100));
  const roundHalfUp = (top: bigint, bottom: bigint) => (2n * top + bottom) / (2n * bottom);
  const target = basis === undefined ? roundHalfUp(toUnits(one.price), 100n) : roundHalfUp(basis * share, 2_000_000n);
  const least = one.lowest === null ? undefined : (toUnits(one.lowest) + 99n) / 100n;
  const most = one.highest === null ? undefined : toUnits(one.highest) / 100n;
  let suggested = target;
  let kept = '';
  if (most !== undefined && suggested > most)
    [suggested, kept] = [most, `highest allowed ${showUnits(toUnits(one.highest ?? 0))}`];
  if (least !== undefined && suggested < least) {
    suggested = least;
    kept = suggested === target ? '' : `lowest allowed ${showUnits(toUnits(one.lowest ?? 0))}`;
  }
  return { currency, ranked, low, basis, suggested, kept };
}

describe('watch --suggest', () => {
  test.each([
    ['cheapest', 'cheapest', 0],
    ['second', 'second', 0],
    ['median', 'median', 0],
    ['median-5%', 'median', 5],
    ['cheapest-2.5%', 'cheapest', 2.5],
    ['second-0.07%', 'second', 0.07],
  ])('%s suggests a price within the limits of each line, with the reason', async (rule, by, percent) => {
    const { rows } = await readRows('--suggest', rule, ...own);
    expect(rows.map(({ line }) => line)).toEqual(lines.map(({ line }) => line));
    let matched = 0;
    let bounded = 0;
    for (const [k, one] of lines.entries()) {
      const row = rows[k] as Row;
      const { ranked, low, basis, suggested, kept } = expectSuggestion(one, by, percent);
      const told = JSON.stringify({ one, row });
      expect(row.suggested, told).toBe(Number(suggested) / 100);
      expect(row.is_changed, told).toBe(Number(suggested) / 100 !== one.price);
      expect(row.shops, told).toBe(basis === undefined ? row.shops : ranked.length);
      if (one.lowest !== null) expect(row.suggested).toBeGreaterThanOrEqual(one.lowest);
      if (kept !== '') bounded += 1;
      if (basis === undefined) {
        expect(row.reason, told).toMatch(
          kept === '' ? /[:;] (unchanged|rounded to two decimals)$/u : new RegExp(`[:;] kept at the ${kept}$`, 'u'),
        );
        continue;
      }
      matched += 1;
      const shop = `${SHOPS[(low?.siteId ?? 0) - 1]} ${showUnits(low?.units ?? 0n)}`;
      const median = `the median ${showUnits((basis + 1n) / 2n)} of ${ranked.length} shop${ranked.length === 1 ? '' : 's'}`;
      const what = by === 'median' ? median : by === 'second' ? `the second cheapest, ${shop}` : shop;
      const start = kept === '' ? (percent === 0 ? 'matches ' : '') : `kept at the ${kept}: `;
      expect(row.reason, told).toBe(`${start}${percent === 0 ? '' : `${percent} % below `}${what}`);
    }
    expect([matched > 12, bounded > 6]).toEqual([true, true]);
  });

  test('reports why a line has no basis for a suggestion', async () => {
    const file = await world.list('nothing.csv', [
      'product,price,currency,lowest',
      `${GTINS[0]},3.10,EUR,`,
      `${GTINS[1]},3.10,EUR,`,
      `${GTINS[2]},3.105,EUR,`,
      `${makeGtin(9001)},3.10,,4.001`,
      `${GTINS[3]},3.10,USD,`,
      '4006381333932,1.50,,',
      `${GTINS[3]},3.10,EUR,`,
      `${makeGtin(9002)},99999999999999.9999,EUR,`,
      `${makeGtin(9003)},0.001,EUR,`,
    ]);
    const { stdout } = await world.watch(file, '--suggest', 'second', '--format', 'csv', ...own);
    const table = stdout.trim().split('\r\n').join('\n').split('\n');
    expect(table[0]).toMatch(/^product,suggested,currency,price,is_changed,reason,/u);
    expect(table.slice(1).map((text) => text.replace(/^\d+,/u, ''))).toEqual([
      expect.stringMatching(/^3\.10,EUR,3\.1000,false,no shop lists it now: unchanged,/u),
      expect.stringMatching(/^3\.10,EUR,3\.1000,false,no price counts: unchanged,/u),
      expect.stringMatching(/^3\.11,EUR,3\.1050,true,no shop lists it now: rounded to two decimals,/u),
      expect.stringMatching(/^4\.01,,3\.1000,true,no listing of this product: kept at the lowest allowed 4\.001,/u),
      expect.stringMatching(/^3\.10,USD,3\.1000,false,sold in EUR alone: unchanged,/u),
      expect.stringMatching(
        /^1\.50,,1\.5000,false,"?not a valid GTIN, which has 8, 12, 13 or 14 digits and .*: unchanged"?,/u,
      ),
      expect.stringMatching(/^3\.10,EUR,3\.1000,false,one shop alone sells it: unchanged,/u),
      expect.stringMatching(/^100000000000000\.00,EUR,.*,no listing of this product: rounded to two decimals,/u),
      expect.stringMatching(/^0\.01,EUR,0\.0010,true,no listing of this product: kept at 0\.01,/u),
    ]);
  });

  test('writes a CSV file for the shop system with a credits file beside it, and keeps no state', async () => {
    const output = join(world.folder, 'new.csv');
    const { code } = await world.watch(file, '--suggest', 'median-5%', '--format', 'csv', '--output', output, ...own);
    expect(code).toBe(7);
    expect((await readFile(output, 'utf8')).split('\n').length).toBeGreaterThan(lines.length);
    expect(await readFile(`${output}-metadata.json`, 'utf8')).toContain(CREDIT);
    await expect(readFile(`${file}.watch.parquet`)).rejects.toThrow('ENOENT');
    // The output can be used as a watch list again.
    expect((await world.watch(output, '--suggest', 'cheapest', '--json')).stdout).toContain('"suggested"');
  });

  test.each([
    [['--suggest', 'cheap'], '--suggest cheap is not a rule: cheapest, second or median'],
    [['--suggest', 'median-100%'], '--suggest median-100% is not a rule'],
    [['--suggest', 'median-0.001%'], 'is not a rule'],
    [['--suggest', 'second', '--with-suspects'], "--suggest and --with-suspects can't be used together"],
    [['--suggest', 'second', '--state', 'x'], "--suggest and --state can't be used together"],
    [['--compliance', '--suggest', 'second'], "--compliance and --suggest can't be used together"],
    [['--compliance', '--state', 'x'], "--compliance and --state can't be used together"],
  ])('refuses the arguments %j', async (args, message) => {
    const { code, stderr } = await world.watch(file, ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
