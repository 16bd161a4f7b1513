import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NAMED_TABLES } from '../../src/check/count-rows.js';
import { loadChecks } from '../../src/check/load.js';
import { runChecks } from '../../src/check/run.js';
import type { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import type { TableName } from '../../src/tables/table.js';
import { insertRows, openEmptyTables, type Row } from './lake-world.js';

const checks = await loadChecks();
let db: Database;

beforeAll(async () => {
  db = await openEmptyTables();
});
afterAll(() => db.close());

beforeEach(async () => {
  await db.run('BEGIN');
  await insertRows(db, 'sites', [{}]);
  await insertRows(db, 'runs', [{}]);
});
afterEach(() => db.run('ROLLBACK'));

/** Violations by check, of the checks that found any. */
async function findViolations(runId?: string): Promise<Record<string, bigint>> {
  const results = await runChecks(new RelationGraph(db), { ...NAMED_TABLES, runId }, checks, {});
  return Object.fromEntries(results.filter((r) => r.violations > 0n).map((r) => [r.name, r.violations]));
}

const day = (n: number): Row => ({
  observed_at: `TIMESTAMPTZ '2026-01-0${n} 00:00:00Z'`,
  observed_date: `DATE '2026-01-0${n}'`,
});
const DIFF: Row = { change_id: 'NULL', origin: "'diff'" };
/** As its change of the first of January left it. */
const SEEN: Row = { last_changed_at: "TIMESTAMPTZ '2026-01-01 00:00:00Z'" };
const GONE: Row = { is_listed: 'false', removed_at: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" };
const listings = (count: number, from = 1, row: Row = {}): Row[] =>
  Array.from({ length: count }, (_, i) => ({ ...row, item_id: String(from + i) }));

describe('the shipped checks', () => {
  it('find nothing in an empty lake and in a sound one', async () => {
    expect(await findViolations()).toEqual({});
    await insertRows(db, 'items', [{}]);
    await insertRows(db, 'history', [{}, { change_id: '2' }]);
    expect(await findViolations()).toEqual({});
  });

  const faults: { check: string; also?: string[]; when: string; rows: Partial<Record<TableName, Row[]>> }[] = [
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
      rows: { history: [day(2), { change_id: '2' }] },
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
      check: 'facet_counts',
      when: 'a website has fewer listings than the service counts, beyond what may move meanwhile',
      rows: {
        runs: [
          {
            run_number: '2',
            facet_differences: `'${JSON.stringify([
              { facet: 'site', id: '1', name: 'Shop', service: 1_000, lake: 989 },
              { facet: 'site', id: '2', name: 'Shop', service: 1_000, lake: 990 },
              { facet: 'currency', id: 'EUR', name: 'EUR', service: 5, lake: 0 },
            ])}'`,
          },
        ],
      },
    },
    {
      check: 'schema_drift',
      when: 'an answer had a field that the document does not name',
      rows: { runs: [{ run_number: '2', schema_drift: `'[{"answer":"/items","field":"energy","rows":3}]'` }] },
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
      check: 'ledger_matches_plan',
      when: 'the service counted fewer calls than those that it answered',
      rows: {
        runs: [{ run_number: '2', calls: '60', calls_refused: '20', usage_calls: '29', usage_export_rows: '10' }],
      },
    },
    {
      check: 'rejects_few',
      when: 'a tenth was rejected',
      rows: { runs: [{ run_number: '2', rejected: '1', written: '7' }] },
    },
    {
      check: 'rejects_many',
      when: 'a fifth of a hundred and more rows was rejected',
      also: ['rejects_few'],
      rows: { runs: [{ run_number: '2', received: '105', rejected: '21', written: '84', deduplicated: '0' }] },
    },
    {
      check: 'price_spread_consistent',
      when: 'a quartile is above the median',
      rows: { price_spread: [{ p25: '11' }] },
    },
    { check: 'price_spread_consistent', when: 'there is one shop', rows: { price_spread: [{ shops: '1' }] } },
    {
      check: 'price_spread_consistent',
      when: 'an inlier is below the lowest price',
      rows: { price_spread: [{ inlier_min: '9' }] },
    },
    {
      check: 'price_spread_daily_consistent',
      when: 'the highest price is below the others',
      rows: { price_spread_daily: [{ max: '9' }] },
    },
    {
      check: 'history_key_unique',
      when: 'a difference of an item stands twice',
      rows: { history: [DIFF, DIFF] },
    },
    {
      check: 'history_price_chain',
      when: 'a change without a price stands between',
      rows: {
        history: [{ price: '10' }, { change_id: '2' }, { change_id: '3', price: '12', previous_price: '11' }],
      },
    },
    {
      check: 'history_price_chain',
      when: 'a difference told another price',
      rows: {
        history: [
          { ...DIFF, price: '10' },
          { change_id: '2', ...day(2), price: '12', previous_price: '11' },
        ],
      },
    },
    {
      check: 'history_day',
      when: 'a change stands in the folder of another day',
      rows: { history: [{ observed_date: "DATE '2026-01-02'" }] },
    },
    {
      check: 'item_price_last_change',
      when: 'the last change told another price',
      rows: { items: [SEEN], history: [{ price: '9' }, { change_id: '2', price: '11', previous_price: '9' }] },
    },
    {
      check: 'listed_last_change',
      when: 'a removed item has no removal time',
      rows: { items: [SEEN], history: [{ kind: "'REMOVED'" }] },
    },
    {
      check: 'listed_last_change',
      when: 'an item is removed, but was listed again',
      rows: {
        items: [{ ...SEEN, is_listed: 'false', removed_at: SEEN.last_changed_at as string }],
        history: [{ kind: "'REMOVED'" }, { change_id: '2', kind: "'RELISTED'" }],
      },
    },
    {
      check: 'datasets_fresh',
      when: 'the newest read is two days old',
      rows: { datasets: [{ newest_scrape_at: "TIMESTAMPTZ '2025-12-30 11:59:59Z'" }] },
    },
    { check: 'datasets_fresh', when: 'nothing was ever read', rows: { datasets: [{ newest_scrape_at: 'NULL' }] } },
    { check: 'sources_healthy', when: 'three of ten are ill', rows: { datasets: [{ healthy_models: '7' }] } },
    {
      check: 'price_jump',
      when: 'a price is ten times the one before',
      rows: { items: [{ price: '99', previous_price: '9.9' }] },
    },
    {
      check: 'price_jump',
      when: 'a price is a hundredth of the one before',
      rows: { items: [{ price: '1', previous_price: '100' }] },
    },
    {
      check: 'pack_size_suspected',
      when: 'a price far off is six times the others',
      rows: { offers: [{ price_ratio: '6.09', findings: "['outlier']" }] },
    },
    {
      check: 'pack_size_suspected',
      when: 'a price far off is half of the others',
      rows: { offers: [{ price_ratio: '0.5', findings: "['outlier']" }] },
    },
    {
      check: 'spread_plausible',
      when: 'the highest price is eleven times the lowest',
      rows: { price_spread: [{ trusted_spread_pct: '1000' }] },
    },
    {
      check: 'site_currency',
      when: 'one of twenty listings is in another currency',
      rows: { items: [...listings(19), { item_id: '100', currency: "'PLN'" }] },
    },
    {
      check: 'offer_duplicate',
      when: 'two listings of a website are one page',
      rows: { items: [{ url: "'https://a/1'" }, { item_id: '2', url: "'https://a/1'" }] },
    },
    {
      check: 'licence_text_changed',
      when: 'the last run brought another text',
      rows: {
        sites: [
          { site_id: '2', attribution: "'CC BY 4.0'", is_current: 'false' },
          { site_id: '2', attribution: "'CC BY-NC 4.0'", valid_from: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" },
        ],
      },
    },
    {
      check: 'site_names',
      when: 'an item names its website in another way',
      rows: { items: [{ site_name: "'Old'" }] },
    },
    {
      check: 'site_vanished',
      when: 'a website lost 20 of its 39 listings',
      rows: {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        items: [...listings(19), ...listings(20, 100, { ...GONE, run_id: "'r2'" })],
      },
    },
    {
      check: 'times_ordered',
      when: 'an item was last seen before it was first',
      rows: { items: [{ last_seen_at: "TIMESTAMPTZ '2025-12-31 23:59:59Z'" }] },
    },
  ];

  it.each(faults)('$check finds it when $when', async ({ check, also = [], rows }) => {
    for (const [table, list] of Object.entries(rows)) await insertRows(db, table as TableName, list);
    expect(await findViolations()).toEqual(Object.fromEntries([check, ...also].map((name) => [name, 1n])));
  });

  const sound: { when: string; rows: Partial<Record<TableName, Row[]>> }[] = [
    {
      when: 'differences are of other items or times',
      rows: { history: [DIFF, { ...DIFF, ...day(2) }, { ...DIFF, kind: "'RELISTED'" }] },
    },
    {
      when: 'a price went away and came back',
      rows: {
        history: [{ price: '10' }, { change_id: '2', previous_price: '10' }, { change_id: '3', price: '12' }],
      },
    },
    {
      when: 'an item changed after its last change that is known',
      rows: {
        items: [{ last_changed_at: "TIMESTAMPTZ '2026-01-01 00:00:01Z'" }],
        history: [{ price: '9' }, { change_id: '2', kind: "'REMOVED'", price: '9' }],
      },
    },
    {
      when: 'a webhook is ahead of the feed',
      rows: {
        runs: [{ run_number: '2', cursor_to: '1' }],
        items: [SEEN],
        history: [{ price: '10' }, { change_id: '2', ...day(2), kind: "'REMOVED'", price: '9', origin: "'webhook'" }],
      },
    },
    {
      when: 'an item was removed by its last change',
      rows: {
        items: [{ ...SEEN, is_listed: 'false', removed_at: SEEN.last_changed_at as string }],
        history: [{ kind: "'RELISTED'" }, { change_id: '2', kind: "'REMOVED'" }],
      },
    },
    {
      when: 'datasets are fresh and healthy, or have no source',
      rows: {
        datasets: [
          { newest_scrape_at: "TIMESTAMPTZ '2025-12-30 12:00:00Z'", healthy_models: '8' },
          { dataset_id: '2', models: '0', healthy_models: '0', newest_scrape_at: 'NULL' },
        ],
      },
    },
    { when: 'a price is nine times the one before', rows: { items: [{ price: '90', previous_price: '10' }] } },
    {
      when: 'a price far off is no whole number of times the others, or none is far off',
      rows: {
        offers: [
          { price_ratio: '6.5', findings: "['outlier']" },
          { item_id: '2', price_ratio: '6', findings: '[]' },
          { item_id: '3', price_ratio: '6', findings: "['pack']" },
        ],
      },
    },
    { when: 'the highest price is ten times the lowest', rows: { price_spread: [{ trusted_spread_pct: '900' }] } },
    {
      when: 'a website sells in two currencies, or has few listings',
      rows: {
        sites: [{ site_id: '2' }],
        items: [
          ...listings(30),
          ...listings(2, 100, { currency: "'PLN'" }),
          ...listings(18, 200, { site_id: '2' }),
          { item_id: '300', site_id: '2', currency: "'PLN'" },
        ],
      },
    },
    {
      when: 'one page was two listings, of which one is gone, or is in two websites',
      rows: {
        sites: [{ site_id: '2' }],
        items: [
          { url: "'https://a/1'" },
          { ...GONE, item_id: '2', url: "'https://a/1'" },
          { item_id: '3', site_id: '2', url: "'https://a/1'" },
        ],
      },
    },
    {
      when: 'a website lost half of its listings, or they were lost before',
      rows: {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        sites: [{ site_id: '2' }],
        items: [
          ...listings(20),
          ...listings(20, 100, { ...GONE, run_id: "'r2'" }),
          ...listings(30, 200, { ...GONE, site_id: '2' }),
        ],
      },
    },
    { when: 'a first copy holds removed listings', rows: { items: listings(30, 1, GONE) } },
    {
      when: 'a text was changed by an earlier run',
      rows: {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        sites: [
          { site_id: '2', attribution: "'CC BY 4.0'", is_current: 'false' },
          { site_id: '2', attribution: "'CC0'", valid_from: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" },
        ],
      },
    },
  ];

  it.each(sound)('find nothing when $when', async ({ rows }) => {
    for (const [table, list] of Object.entries(rows)) await insertRows(db, table as TableName, list);
    expect(await findViolations()).toEqual({});
  });

  it('have a case each in `faults` above, and a line `found` each', () => {
    const tested = new Set(faults.map(({ check }) => check));
    expect(checks.filter(({ name }) => !tested.has(name)).map(({ name }) => name)).toEqual([]);
    expect(checks.filter(({ found }) => found === undefined).map(({ file }) => file)).toEqual([]);
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
    expect(await findViolations('r2')).toEqual({});
    await insertRows(db, 'history', [{ change_id: '2', run_id: "'r2'" }]);
    expect(await findViolations('r2')).toEqual({ history_key_unique: 1n });
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
