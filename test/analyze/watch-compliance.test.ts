import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  CREDIT,
  file,
  GTINS,
  judged,
  type Line,
  lines,
  listings,
  OWN_SITE,
  own,
  type Row,
  readRows,
  recorded,
  TODAY,
  world,
} from '../cli/watch-market.js';
import { at, type PastListing } from '../cli/watch-world.js';
import { findEpisodes } from './price-world.js';

interface Breach {
  itemId: string;
  shop: string;
  siteId: number;
  price: number;
  from: number;
  to: number;
  isKnown: boolean;
}

/** Times at which a listing was below a price, by its own past and what table offers says about it now. */
function listBreaches(one: PastListing, lowest: number, withSuspects: boolean): Breach[] {
  const spells = one.past.flatMap(([from, price], k) =>
    price === null
      ? []
      : [{ price, from, to: one.past[k + 1]?.[0] ?? Infinity, isKnown: k > 0 || one.isBegun || one.past.length === 1 }],
  );
  const episodes = findEpisodes(spells.map(({ price }) => price));
  const now = judged.find(({ itemId }) => itemId === String(one.itemId));
  const isOut = now !== undefined && !now.isCounted && now.findings.join() !== 'duplicate' && !withSuspects;
  return spells
    .filter(({ price, to }, place) => {
      if (price >= lowest) return false;
      if (isOut && (to === Infinity || now.findings.some((name) => name === 'pack' || name === 'currency')))
        return false;
      return withSuspects || (price > 0.01 && !episodes.some(([begin, end]) => place >= begin && place < end));
    })
    .map((spell) => ({ ...spell, itemId: String(one.itemId), shop: one.shop, siteId: one.siteId }));
}

/** Breaches that overlap or touch, joined. */
function joinBreaches<T extends { from: number; to: number }>(breaches: T[]): T[][] {
  const groups: T[][] = [];
  let end = -Infinity;
  for (const breach of breaches.sort((a, b) => a.from - b.from)) {
    if (breach.from <= end) groups.at(-1)?.push(breach);
    else groups.push([breach]);
    end = Math.max(end, breach.to);
  }
  return groups;
}

function expectCompliance({ line, gtin, currency: given, lowest }: Line, withSuspects: boolean): Row[] {
  if (lowest === null) return [];
  const offered = listings.filter((one) => one.gtin === gtin);
  const now = judged.filter((one) => one.gtin === gtin && one.siteId !== OWN_SITE && one.price > 0);
  const counted = now.filter(({ isCounted }) => withSuspects || isCounted);
  const names = (list: { currency: string }[]) => [...new Set(list.map(({ currency }) => currency))];
  const current = names(counted.length > 0 ? counted : now);
  const ever = names(offered);
  const currency = given || (current.length === 1 ? current[0] : ever.length === 1 ? ever[0] : undefined);
  const asked = offered.filter((one) => one.currency === currency && one.siteId !== OWN_SITE);
  const shops = [...new Set(asked.map(({ siteId }) => siteId))].map((id) =>
    asked.filter(({ siteId }) => siteId === id),
  );
  const stretches = shops.flatMap((own) =>
    joinBreaches(own.flatMap((one) => listBreaches(one, lowest, withSuspects))).map((group) => ({
      ...{ shop: group[0]?.shop, siteId: group[0]?.siteId ?? 0, from: group[0]?.from ?? 0, group },
      to: Math.max(...group.map(({ to }) => to)),
    })),
  );
  return joinBreaches(stretches).flatMap((episode, k) => {
    const order = episode.toSorted((a, b) => a.from - b.from || a.siteId - b.siteId);
    const places = [...new Set(order.map(({ siteId }) => siteId))];
    return order
      .map((one) => ({ ...one, place: places.indexOf(one.siteId) + 1 }))
      .sort((a, b) => a.place - b.place || a.from - b.from)
      .map(({ group, shop, from, to, place }): Row => {
        const least = group.toSorted(
          (a, b) => a.price - b.price || a.from - b.from || Number(a.itemId) - Number(b.itemId),
        )[0];
        const listing = listings.find(({ itemId }) => String(itemId) === least?.itemId);
        const change = recorded.changes.find(
          ({ item, observedAt }) => String(item.id) === least?.itemId && observedAt === at(least?.from ?? 0),
        );
        return {
          ...{
            line,
            product_id: gtin,
            currency,
            episode: k + 1,
            place,
            shop,
            first_shop: order[0]?.shop,
            from_at: at(from),
          },
          from_known: group.filter((one) => one.from === from).every(({ isKnown }) => isKnown),
          ...{ to_at: to === Infinity ? null : at(to), is_now: to === Infinity },
          days: (to === Infinity ? TODAY : to) - from,
          ...{ lowest_price: least?.price, priced_at: at(least?.from ?? 0), item_id: least?.itemId, url: listing?.url },
          ...{ change_id: change?.id ?? null, kind: change?.kind ?? null },
        };
      });
  });
}

describe('watch --compliance', () => {
  test.each([false, true])(
    'lists every time a shop was below the lowest allowed price, with evidence (with suspects: %s)',
    async (all) => {
      const { code, rows } = await readRows('--compliance', ...own, ...(all ? ['--with-suspects'] : []));
      const expected = lines.flatMap((line) => expectCompliance(line, all));
      expect(
        rows.map((row, k) => Object.fromEntries(Object.keys(expected[k] ?? row).map((name) => [name, row[name]]))),
      ).toEqual(expected);
      expect(expected.length).toBeGreaterThan(60);
      expect(expected.filter(({ place }) => Number(place) > 2).length).toBeGreaterThan(3);
      for (const [name, value] of Object.entries({
        from_known: false,
        currency: 'PLN',
        episode: 2,
        kind: 'RELISTED',
      })) {
        expect(expected.filter((row) => row[name] === value).length, name).toBeGreaterThan(0);
      }
      for (const row of rows) {
        expect(Math.round((Number(row.allowed) - Number(row.lowest_price)) * 10_000)).toBe(
          Math.round(Number(row.below) * 10_000),
        );
        const change = recorded.changes.find(({ id }) => id === row.change_id);
        if (change?.kind === 'CHANGED') expect(JSON.parse(String(row.landed))).toEqual(change.changes);
        if (change === undefined) expect(row).toMatchObject({ landed: null, run_id: null });
        else expect(row.run_id).toEqual(expect.any(String));
      }
      expect(code).toBe(7);
    },
  );

  test("requires a lowest allowed price, and doesn't affect the comparison of the next run", async () => {
    const without = await world.list('without.csv', ['product,price', `${GTINS[5]},3`]);
    const { code, stderr } = await world.watch(without, '--compliance');
    expect([code, stderr]).toEqual([2, expect.stringContaining('without.csv: no line has a lowest allowed price')]);
    await expect(readFile(`${file}.watch.parquet`)).rejects.toThrow('ENOENT');
  });

  test('shows days and evidence, and the alarm points to the rows to check', async () => {
    const { stdout, stderr } = await world.watch(file, '--compliance');
    expect(stdout).toMatch(/https:\/\/shop\d\.example/u);
    expect(stdout).toMatch(/ 2026-11-\d\d +(│ +)?2026-11-\d\d +(│ +)?\d+\.0 /u);
    expect(stdout).toContain(CREDIT);
    expect(stderr).toContain('To see the shops, look at the rows where is_now is true.');
  });
});
