import { describe, expect, test } from 'vitest';
import type { Bound } from '../../src/plan/allowance.js';
import { type Counts, planExports, SPLIT_ABOVE } from '../../src/plan/plan-shards.js';

const FREE = { calls: undefined, quota: undefined };
const ADD_UP = 'the websites in /facets add up to 900 of';
const bound = (allowed: bigint): Bound => ({ rule: 'rule', allowed, used: 0n, monthly: true });

const site = (id: bigint, items: bigint) => ({ id, items });

/** 1,000 items, 900 of which are listed on three websites. */
const COUNTS: Counts = {
  items: 1_000n,
  listed: { items: 900n, sites: [site(1n, 50n), site(2n, 600n), site(9_007_199_254_740_993n, 250n)] },
};
const listed = (change: object): Counts => ({ ...COUNTS, listed: { ...COUNTS.listed, ...change } as Counts['listed'] });

describe('the exports of a complete copy', () => {
  test('are one per website for listed items and one for all removed items, largest first', () => {
    const { shards, reason } = planExports([COUNTS], FREE, 999n);
    expect(shards).toEqual([
      { name: 'site-2', status: 'active', site: 2n, rows: 600n },
      { name: 'site-9007199254740993', status: 'active', site: 9_007_199_254_740_993n, rows: 250n },
      { name: 'removed', status: 'removed', site: null, rows: 100n },
      { name: 'site-1', status: 'active', site: 1n, rows: 50n },
    ]);
    expect(shards.reduce((sum, { rows }) => sum + rows, 0n)).toBe(COUNTS.items);
    expect(reason).toBe('more than 999 items: one export for each website');
  });

  test('give one reason for any number of small datasets', () => {
    const datasets = Array.from({ length: 2_000 }, (_, i): Counts => ({ dataset: BigInt(i), items: BigInt(i % 900) }));
    const { shards, reason } = planExports(datasets, FREE, 999n);
    expect(shards).toHaveLength(2_000);
    expect(reason).toBe('no more than 999 items');
  });

  test.each<[string, Counts, Parameters<typeof planExports>[1], string]>([
    ['there are few items', { items: 999n }, FREE, 'no more than 999 items'],
    ["the websites aren't counted", { items: 1_000n }, FREE, 'items are not counted by website'],
    ["the counts of the websites don't add up", listed({ items: 901n }), FREE, `${ADD_UP} 901 listed items`],
    [
      'a website is counted twice',
      listed({ sites: [site(1n, 450n), site(1n, 450n)] }),
      FREE,
      `${ADD_UP} 900 listed items`,
    ],
    ['calls are scarce', COUNTS, { ...FREE, calls: bound(39n) }, '4 exports would take too many of the 39 calls left'],
    [
      'rows would be billed by block',
      COUNTS,
      { ...FREE, quota: bound(999n) },
      'rows beyond the quota may be billed for each export',
    ],
  ])('are a single one if %s', (_case, counts, allowance, reason) => {
    expect(planExports([counts], allowance, 999n)).toEqual({
      shards: [{ name: 'all', status: 'all', site: null, rows: counts.items }],
      reason,
    });
  });

  test('are split if calls and rows just suffice', () => {
    expect(planExports([COUNTS], { calls: bound(40n), quota: bound(1_000n) }, 999n).shards).toHaveLength(4);
  });

  test('are a single one for a million items', () => {
    expect(planExports([{ items: 1_000_000n }], FREE).shards).toHaveLength(1);
    expect(SPLIT_ABOVE).toBe(1_000_000n);
  });
});
