import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadChecks } from '../../src/check/load.js';
import { runChecks } from '../../src/check/run.js';
import type { Database } from '../../src/duckdb/connection.js';
import { realIo } from '../../src/io.js';
import type { TableName } from '../../src/model.js';
import { insertRows, openEmptyTables, type Row } from './lake-world.js';

const checks = await loadChecks();
let db: Database;

beforeEach(async () => {
  db = await openEmptyTables();
  await insertRows(db, 'sites', [{}]);
  await insertRows(db, 'runs', [{}]);
});
afterEach(() => db.close());

/** Violations by check, of the checks that found any. */
async function findViolations(): Promise<Record<string, bigint>> {
  const results = await runChecks(db, checks, {}, realIo);
  return Object.fromEntries(results.filter((r) => r.violations > 0n).map((r) => [r.name, r.violations]));
}

describe('the shipped checks', () => {
  it('find nothing in an empty lake and in a sound one', async () => {
    expect(await findViolations()).toEqual({});
    await insertRows(db, 'items', [{}]);
    await insertRows(db, 'history', [{}, { change_id: '2' }]);
    expect(await findViolations()).toEqual({});
  });

  const faults: { check: string; when: string; rows: Partial<Record<TableName, Row[]>> }[] = [
    { check: 'items_key_unique', when: 'an item id stands twice', rows: { items: [{}, {}] } },
    {
      check: 'items_key_present',
      when: 'an item has no id',
      rows: { items: [{ item_id: 'NULL' }] },
    },
    { check: 'history_key_unique', when: 'a change id stands twice', rows: { history: [{}, {}] } },
    {
      check: 'history_ordered',
      when: 'a later change was observed earlier',
      rows: { history: [{}, { change_id: '2', observed_at: "TIMESTAMPTZ '2025-12-31 00:00:00Z'" }] },
    },
    {
      check: 'history_price_chain',
      when: 'a change continues from another price',
      rows: { history: [{ price: '10' }, { change_id: '2', price: '12', previous_price: '11' }] },
    },
    { check: 'price_with_currency', when: 'a price has no currency', rows: { items: [{ currency: 'NULL' }] } },
    { check: 'price_not_negative', when: 'a price is below zero', rows: { items: [{ price: '-0.0001' }] } },
    {
      check: 'currency_iso_4217',
      when: 'a listed item has a made-up currency',
      rows: { items: [{ currency: "'EUX'" }] },
    },
    { check: 'gtin_check_digit', when: 'the check digit is wrong', rows: { items: [{ gtin: "'4006381333932'" }] } },
    { check: 'gtin_check_digit', when: 'the length is wrong', rows: { items: [{ gtin: "'40063813339'" }] } },
    { check: 'gtin_check_digit', when: 'it is not of digits', rows: { items: [{ gtin: "'+40063813339'" }] } },
    { check: 'site_known', when: 'an item is of an unknown website', rows: { items: [{ site_id: '7' }] } },
    {
      check: 'site_known',
      when: 'the website has no current row',
      rows: { sites: [{ site_id: '2', is_current: 'false' }], items: [{ site_id: '2' }] },
    },
    {
      check: 'attribution_present',
      when: 'a spread lacks the text of a website in it',
      rows: {
        sites: [{ site_id: '2', attribution: "'CC BY 4.0'" }],
        items: [{}, { item_id: '2', site_id: '2' }],
        price_spread: [{}],
      },
    },
    {
      check: 'attribution_kept',
      when: 'the last run lost a licence text',
      rows: {
        sites: [
          { site_id: '2', attribution: "'CC BY 4.0'", is_current: 'false' },
          { site_id: '2', valid_from: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" },
        ],
      },
    },
    { check: 'listed_consistent', when: 'a removed item is listed', rows: { items: [{ removed_at: 'now()' }] } },
    { check: 'row_equation', when: 'a received row is nowhere', rows: { runs: [{ run_number: '2', received: '11' }] } },
    { check: 'export_rows', when: 'an export ended early', rows: { runs: [{ run_number: '2', export_rows: '11' }] } },
    {
      check: 'sample_matches',
      when: 'a sampled item has another brand',
      rows: { runs: [{ run_number: '2', sample_differences: `'[{"item_id":1,"differences":["brand"]}]'` }] },
    },
    {
      check: 'products_match',
      when: 'three of a hundred products differ',
      rows: {
        runs: [
          {
            run_number: '2',
            products_compared: '100',
            products_different: '3',
            product_differences: `'[{"product":"400","differences":["shops"]}]'`,
          },
        ],
      },
    },
    {
      check: 'ledger_matches_plan',
      when: 'the service counted more calls than were made',
      rows: { runs: [{ run_number: '2', calls: '60', usage_calls: '71', usage_export_rows: '10' }] },
    },
    {
      check: 'ledger_matches_plan',
      when: 'the service counted other export rows, lost ones included',
      rows: {
        runs: [{ run_number: '2', calls: '60', usage_calls: '70', export_rows_lost: '5', usage_export_rows: '14' }],
      },
    },
    {
      check: 'rejects_few',
      when: 'a tenth was rejected',
      rows: { runs: [{ run_number: '2', rejected: '1', written: '7' }] },
    },
    {
      check: 'price_spread_consistent',
      when: 'a quartile is above the median',
      rows: { price_spread: [{ p25: '11' }] },
    },
    { check: 'price_spread_consistent', when: 'there is one shop', rows: { price_spread: [{ shops: '1' }] } },
  ];

  it.each(faults)('$check finds it when $when', async ({ check, rows }) => {
    for (const [table, list] of Object.entries(rows)) await insertRows(db, table as TableName, list);
    expect(await findViolations()).toEqual({ [check]: 1n });
  });

  it('have a case each', () => {
    expect(new Set(faults.map(({ check }) => check))).toEqual(new Set(checks.map(({ name }) => name)));
  });

  it('take every right length of GTIN', async () => {
    const gtins = ["'96385074'", "'036000291452'", "'4006381333931'", "'14006381333938'"];
    await insertRows(
      db,
      'items',
      gtins.map((gtin, i) => ({ item_id: String(i + 1), gtin })),
    );
    expect(await findViolations()).toEqual({});
  });

  it('look within a run only at the change ids that the run wrote', async () => {
    await insertRows(db, 'history', [{}, {}, { change_id: '2', run_id: "'r2'" }]);
    await db.run("SET VARIABLE run_id = 'r2'");
    expect(await findViolations()).toEqual({});
    await insertRows(db, 'history', [{ change_id: '2', run_id: "'r2'" }]);
    expect(await findViolations()).toEqual({ history_key_unique: 1n });
  });

  it('let a licence text go that an earlier run dropped', async () => {
    await insertRows(db, 'sites', [
      { site_id: '2', attribution: "'CC BY 4.0'", is_current: 'false' },
      { site_id: '2', valid_from: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" },
    ]);
    await insertRows(db, 'runs', [{ run_number: '2', run_id: "'r2'" }]);
    expect(await findViolations()).toEqual({});
  });
});
