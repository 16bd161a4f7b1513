import type { DuckDBValue } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { openMarket, text, time } from './market-world.js';

const day = (date: string, product: string, pct: string, grade = 'B') => ({
  day: `DATE '2026-11-${date}'`,
  product_id: text(product),
  trusted_spread_pct: pct,
  trusted_shops: '3',
  grade: text(grade),
});

/** Spreads of five products: one opens, one closes, one hardly moves, one is new, one has a wrong price, and one had. */
let db: Database;
beforeAll(async () => {
  const products = [
    ['opens', '130'],
    ['closes', '105'],
    ['rests', '114'],
    ['comes', '140'],
    ['wrong', '101'],
    ['righted', '105'],
  ] as const;
  db = await openMarket({
    sites: [{}, { site_id: '2' }],
    items: products.flatMap(([product, dearest], k) =>
      ['100', dearest].map((price, site) => ({
        item_id: String(10 * k + site),
        site_id: String(site + 1),
        product_id: text(product),
        ...{ gtin: 'NULL', gtin14: 'NULL', price },
      })),
    ),
    runs: [
      { finished_at: time('2026-11-13T09:00:00Z'), caught_up_at: time('2026-11-13T08:00:00Z') },
      { run_number: '2', run_id: text('r2'), finished_at: time('2026-11-20T09:00:00Z') },
    ],
    days: [
      ...[day('13', 'opens', '2'), day('13', 'closes', '60'), day('13', 'rests', '10')],
      ...[
        day('18', 'opens', '20'),
        day('18', 'closes', '9'),
        day('18', 'rests', '10'),
        day('18', 'wrong', '2'),
        day('18', 'righted', '11521', 'C'),
      ],
      ...[
        day('19', 'wrong', '900'),
        day('19', 'righted', '5'),
        day('19', 'opens', '30'),
        day('19', 'closes', '5'),
        day('19', 'rests', '14'),
        day('19', 'comes', '40'),
      ],
    ],
  });
});
afterAll(() => db.close());

async function ask(variables: Record<string, DuckDBValue> = {}): Promise<string[]> {
  const unset = { since: null, since_run: null, min_points: null, kind: null, top: null, currency: null };
  await setVariables(db, { ...unset, ...variables });
  const rows = await db.rows(readAnalysis('spread_moves'));
  return rows.map(
    ({ product_id, kind, before_pct, spread_pct, since_day, of_kind }) =>
      `${product_id} ${kind} ${before_pct} to ${spread_pct} since ${since_day}, 1 of ${of_kind}`,
  );
}

test('spread_moves compares the last closed day with the one before it', async () => {
  expect(await ask()).toEqual(['opens opened 20 to 30 since 2026-11-18, 1 of 1']);
  expect(await ask({ min_points: 4 })).toEqual([
    'opens opened 20 to 30 since 2026-11-18, 1 of 2',
    'closes closed 9 to 5 since 2026-11-18, 1 of 1',
    'rests opened 10 to 14 since 2026-11-18, 1 of 2',
  ]);
});

test('spread_moves goes back to a time or a run, and uses the newest day before it', async () => {
  const week = ['closes closed 60 to 5 since 2026-11-13, 1 of 1', 'opens opened 2 to 30 since 2026-11-13, 1 of 1'];
  expect(await ask({ since: '2026-11-14T12:00:00Z' })).toEqual(week);
  expect(await ask({ since_run: 1n })).toEqual(week);
  // A day that has not ended is replaced by the last closed one.
  expect(await ask({ since: '2026-11-25' })).toEqual(await ask());
  expect(await ask({ since: '2026-11-01' })).toEqual([]);
});

test('spread_moves counts each kind and shows its largest moves', async () => {
  expect(await ask({ min_points: 4, top: 1n, kind: 'opened' })).toEqual([
    'opens opened 20 to 30 since 2026-11-18, 1 of 2',
  ]);
  expect(await ask({ currency: 'PLN' })).toEqual([]);
});
