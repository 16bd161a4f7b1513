import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NAMED_TABLES } from '../../src/check/count-rows.js';
import { loadChecks } from '../../src/check/load.js';
import { runChecks } from '../../src/check/run.js';
import { RelationGraph } from '../../src/sql/graph.js';
import type { TableName } from '../../src/tables/table.js';
import { insertRows, openEmptyTables, type Row } from './lake-world.js';

const checks = await loadChecks();
const db = await openEmptyTables();
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

type Rows = Partial<Record<TableName, Row[]>>;

async function findIn(rows: Rows): Promise<Record<string, bigint>> {
  for (const [table, list] of Object.entries(rows)) await insertRows(db, table as TableName, list);
  return findViolations();
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

const secondRun = (row: Row): Rows => ({ runs: [{ run_number: '2', ...row }] });
/** A website whose license text has changed. */
const relicense = (attribution = 'NULL'): Row[] => [
  { site_id: '2', attribution: "'CC BY 4.0'", is_current: 'false' },
  { site_id: '2', attribution, valid_from: "TIMESTAMPTZ '2026-02-01 00:00:00Z'" },
];

describe('the shipped checks', () => {
  it('find no violations in an empty lake and in a sound one', async () => {
    expect(await findViolations()).toEqual({});
    await insertRows(db, 'items', [{}]);
    await insertRows(db, 'history', [{}, { change_id: '2' }]);
    expect(await findViolations()).toEqual({});
  });

  const faults: [check: string, when: string, rows: Rows, also?: string][] = [
    ['items_key_unique', 'an item id occurs twice', { items: [{}, {}] }],
    ['items_key_present', 'an item has no id', { items: [{ item_id: 'NULL' }] }],
    ['history_key_unique', 'a change id occurs twice', { history: [{}, {}] }],
    ['history_ordered', 'a later change was observed earlier', { history: [day(2), { change_id: '2' }] }],
    [
      'history_price_chain',
      'a change continues from another price',
      { history: [{ price: '10' }, { change_id: '2', price: '12', previous_price: '11' }] },
    ],
    ['price_with_currency', 'a price has no currency', { items: [{ currency: 'NULL' }] }],
    ['price_not_negative', 'a price is below zero', { items: [{ price: '-0.0001' }] }],
    ['currency_iso_4217', 'a listed item has a made-up currency', { items: [{ currency: "'EUX'" }] }],
    ['gtin_check_digit', 'a check digit is wrong', { items: [{ gtin: "'4006381333932'" }] }],
    ['gtin_check_digit', 'a GTIN has a wrong length', { items: [{ gtin: "'40063813339'" }] }],
    ['gtin_check_digit', 'a GTIN has other characters than digits', { items: [{ gtin: "'+40063813339'" }] }],
    ['site_known', 'an item has an unknown website', { items: [{ site_id: '7' }] }],
    [
      'site_known',
      'the website has no current row',
      { sites: [{ site_id: '2', is_current: 'false' }], items: [{ site_id: '2' }] },
    ],
    [
      'attribution_present',
      'a spread lacks the license text of one of its websites',
      {
        sites: [{ site_id: '2', attribution: "'CC BY 4.0'" }],
        items: [{}, { item_id: '2', site_id: '2' }],
        price_spread: [{}],
      },
    ],
    [
      'attribution_kept',
      'the last run lost a license text',
      {
        sites: relicense(),
      },
    ],
    ['listed_consistent', 'a removed item is listed', { items: [{ removed_at: 'now()' }] }],
    ['row_equation', 'a received row is in no table', secondRun({ received: '11' })],
    ['export_rows', 'an export ended early', secondRun({ export_rows: '11' })],
    [
      'sample_matches',
      'a sampled item has another brand',
      secondRun({ sample_differences: `'[{"item_id":1,"differences":["brand"]}]'` }),
    ],
    [
      'products_match',
      'three of a hundred products differ',
      secondRun({
        products_compared: '100',
        products_different: '3',
        product_differences: `'[{"product":"400","differences":["shops"]}]'`,
      }),
    ],
    [
      'facet_counts',
      'a website has fewer listings than the service counts, by more than concurrent changes explain',
      secondRun({
        facet_differences: `'${JSON.stringify([
          { facet: 'site', id: '1', name: 'Shop', service: 1_000, lake: 989 },
          { facet: 'site', id: '2', name: 'Shop', service: 1_000, lake: 990 },
          { facet: 'currency', id: 'EUR', name: 'EUR', service: 5, lake: 0 },
        ])}'`,
      }),
    ],
    [
      'schema_drift',
      'a response had a field that the API document does not name',
      secondRun({ schema_drift: `'[{"answer":"/items","field":"energy","rows":3}]'` }),
    ],
    [
      'ledger_matches_plan',
      'the service counted more calls than were made',
      secondRun({ calls: '60', usage_calls: '71', usage_export_rows: '10' }),
    ],
    [
      'ledger_matches_plan',
      'the service counted another number of export rows, including lost ones',
      secondRun({ calls: '60', usage_calls: '70', export_rows_lost: '5', usage_export_rows: '14' }),
    ],
    [
      'ledger_matches_plan',
      'the service counted fewer calls than it responded to',
      secondRun({ calls: '60', calls_refused: '20', usage_calls: '29', usage_export_rows: '10' }),
    ],
    ['rejects_few', 'a tenth was rejected', secondRun({ rejected: '1', written: '7' })],
    [
      'rejects_many',
      'a fifth of more than a hundred rows was rejected',
      secondRun({ received: '105', rejected: '21', written: '84', deduplicated: '0' }),
      'rejects_few',
    ],
    ['price_spread_consistent', 'a quartile is above the median', { price_spread: [{ p25: '11' }] }],
    ['price_spread_consistent', 'a spread has only one shop', { price_spread: [{ shops: '1' }] }],
    ['price_spread_consistent', 'a trusted price is below the lowest', { price_spread: [{ trusted_min: '9' }] }],
    ['price_spread_daily_consistent', 'the highest price is below the others', { price_spread_daily: [{ max: '9' }] }],
    ['history_key_unique', 'a difference of an item occurs twice', { history: [DIFF, DIFF] }],
    [
      'history_price_chain',
      'a change without a price lies between two prices',
      {
        history: [{ price: '10' }, { change_id: '2' }, { change_id: '3', price: '12', previous_price: '11' }],
      },
    ],
    [
      'history_price_chain',
      'a difference reported another price',
      {
        history: [
          { ...DIFF, price: '10' },
          { change_id: '2', ...day(2), price: '12', previous_price: '11' },
        ],
      },
    ],
    [
      'history_day',
      'a change lies in the folder of another day',
      { history: [{ observed_date: "DATE '2026-01-02'" }] },
    ],
    [
      'item_price_last_change',
      'the last change reported another price',
      { items: [SEEN], history: [{ price: '9' }, { change_id: '2', price: '11', previous_price: '9' }] },
    ],
    ['listed_last_change', 'a removed item has no removal time', { items: [SEEN], history: [{ kind: "'REMOVED'" }] }],
    [
      'listed_last_change',
      'an item is removed, but was listed again',
      {
        items: [{ ...SEEN, is_listed: 'false', removed_at: SEEN.last_changed_at as string }],
        history: [{ kind: "'REMOVED'" }, { change_id: '2', kind: "'RELISTED'" }],
      },
    ],
    [
      'datasets_fresh',
      'the newest read is two days old',
      { datasets: [{ newest_scrape_at: "TIMESTAMPTZ '2025-12-30 11:59:59Z'" }] },
    ],
    ['datasets_fresh', 'a dataset was never read', { datasets: [{ newest_scrape_at: 'NULL' }] }],
    ['sources_healthy', 'three of ten sources are unhealthy', { datasets: [{ healthy_models: '7' }] }],
    ['price_jump', 'a price is ten times the one before', { items: [{ price: '99', previous_price: '9.9' }] }],
    ['price_jump', 'a price is a hundredth of the one before', { items: [{ price: '1', previous_price: '100' }] }],
    [
      'spread_plausible',
      'the highest price is eleven times the lowest',
      { price_spread: [{ trusted_spread_pct: '1000' }] },
    ],
    [
      'site_currency',
      'one of twenty listings is in another currency',
      { items: [...listings(19), { item_id: '100', currency: "'PLN'" }] },
    ],
    [
      'offer_duplicate',
      'two listings of a website have the same page',
      { items: [{ url: "'https://a/1'" }, { item_id: '2', url: "'https://a/1'" }] },
    ],
    [
      'license_text_changed',
      'the last run changed a license text',
      {
        sites: relicense("'CC BY-NC 4.0'"),
      },
    ],
    ['site_names', 'an item names its website in another way', { items: [{ site_name: "'Old'" }] }],
    [
      'site_vanished',
      'a website lost 20 of its 39 listings',
      {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        items: [...listings(19), ...listings(20, 100, { ...GONE, run_id: "'r2'" })],
      },
    ],
    [
      'times_ordered',
      'an item was last seen before it was first',
      { items: [{ last_seen_at: "TIMESTAMPTZ '2025-12-31 23:59:59Z'" }] },
    ],
    [
      'sources_seen',
      'a source with a listed item is stale',
      { items: [{ source_id: '7' }], sources: [{ source_id: '7', is_stale: 'true' }] },
    ],
    [
      'seen_ahead',
      'an item was last seen more than a day after it was read',
      {
        items: [{ last_seen_at: "TIMESTAMPTZ '2026-01-03 00:00:01Z'", read_at: "TIMESTAMPTZ '2026-01-02 00:00:00Z'" }],
      },
    ],
  ];

  it.each(faults)('%s finds a violation when %s', async (check, _when, rows, also = check) => {
    expect(await findIn(rows)).toEqual({ [check]: 1n, [also]: 1n });
  });

  const sound: [when: string, rows: Rows][] = [
    [
      'a feed change advanced the last-seen time of an item that was read long before',
      {
        items: [
          {
            last_seen_at: "TIMESTAMPTZ '2026-02-10 23:00:00Z'",
            read_at: "TIMESTAMPTZ '2026-01-02 00:00:00Z'",
            run_id: "'000007-20260209T010203Z'",
          },
        ],
      },
    ],
    [
      'a stale source has no listed item, and others are fresh',
      {
        items: [
          { source_id: '7', ...GONE },
          { item_id: '2', source_id: '8' },
        ],
        sources: [
          { source_id: '7', is_stale: 'true' },
          { source_id: '8', is_stale: 'false' },
        ],
      },
    ],
    [
      'an item was last seen a day after it was read, by clocks that differ',
      {
        items: [{ last_seen_at: "TIMESTAMPTZ '2026-01-03 00:00:00Z'", read_at: "TIMESTAMPTZ '2026-01-02 00:00:00Z'" }],
      },
    ],
    [
      'differences are of other items or times',
      { history: [DIFF, { ...DIFF, ...day(2) }, { ...DIFF, kind: "'RELISTED'" }] },
    ],
    [
      'a price went away and came back',
      {
        history: [{ price: '10' }, { change_id: '2', previous_price: '10' }, { change_id: '3', price: '12' }],
      },
    ],
    [
      'an item changed after its last known change',
      {
        items: [{ last_changed_at: "TIMESTAMPTZ '2026-01-01 00:00:01Z'" }],
        history: [{ price: '9' }, { change_id: '2', kind: "'REMOVED'", price: '9' }],
      },
    ],
    [
      'a webhook change is ahead of the feed',
      {
        runs: [{ run_number: '2', cursor_to: '1' }],
        items: [SEEN],
        history: [{ price: '10' }, { change_id: '2', ...day(2), kind: "'REMOVED'", price: '9', origin: "'webhook'" }],
      },
    ],
    [
      'an item was removed by its last change',
      {
        items: [{ ...SEEN, is_listed: 'false', removed_at: SEEN.last_changed_at as string }],
        history: [{ kind: "'RELISTED'" }, { change_id: '2', kind: "'REMOVED'" }],
      },
    ],
    [
      'datasets are fresh and healthy, or have no source',
      {
        datasets: [
          { newest_scrape_at: "TIMESTAMPTZ '2025-12-30 12:00:00Z'", healthy_models: '8' },
          { dataset_id: '2', models: '0', healthy_models: '0', newest_scrape_at: 'NULL' },
        ],
      },
    ],
    ['a price is nine times the one before', { items: [{ price: '90', previous_price: '10' }] }],
    [
      'an outlying price is no integer multiple of the others, or no price is an outlier',
      {
        offers: [
          { price_ratio: '6.5', findings: "['outlier']" },
          { item_id: '2', price_ratio: '6', findings: '[]' },
          { item_id: '3', price_ratio: '6', findings: "['pack']" },
        ],
      },
    ],
    ['the highest price is ten times the lowest', { price_spread: [{ trusted_spread_pct: '900' }] }],
    [
      'a website sells in two currencies, or has few listings',
      {
        sites: [{ site_id: '2' }],
        items: [
          ...listings(30),
          ...listings(2, 100, { currency: "'PLN'" }),
          ...listings(18, 200, { site_id: '2' }),
          { item_id: '300', site_id: '2', currency: "'PLN'" },
        ],
      },
    ],
    [
      'a removed listing had the page of another one, or two websites share a page',
      {
        sites: [{ site_id: '2' }],
        items: [
          { url: "'https://a/1'" },
          { ...GONE, item_id: '2', url: "'https://a/1'" },
          { item_id: '3', site_id: '2', url: "'https://a/1'" },
        ],
      },
    ],
    [
      'a website lost half of its listings, or lost them in an earlier run',
      {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        sites: [{ site_id: '2' }],
        items: [
          ...listings(20),
          ...listings(20, 100, { ...GONE, run_id: "'r2'" }),
          ...listings(30, 200, { ...GONE, site_id: '2' }),
        ],
      },
    ],
    ['a first copy holds removed listings', { items: listings(30, 1, GONE) }],
    [
      'a text was changed by an earlier run',
      {
        runs: [{ run_number: '2', run_id: "'r2'" }],
        sites: relicense("'CC0'"),
      },
    ],
    [
      'a license text was dropped by an earlier run',
      {
        sites: relicense(),
        runs: [{ run_number: '2', run_id: "'r2'" }],
      },
    ],
    [
      'GTINs have any right length',
      {
        items: ["'96385074'", "'036000291452'", "'4006381333931'", "'14006381333938'"].map((gtin, i) => ({
          item_id: String(i + 1),
          gtin,
        })),
      },
    ],
  ];

  it.each(sound)('find no violations when %s', async (_when, rows) => {
    expect(await findIn(rows)).toEqual({});
  });

  it('each have a case in `faults` above', () => {
    const tested = new Set(faults.map(([check]) => check));
    const untested = checks.map(({ name }) => name).filter((name) => !tested.has(name));
    if (untested.length > 0)
      expect.fail(`test/check/checks.test.ts: \`faults\` has no rows for ${untested.join(', ')}.`);
  });

  it('examine, within a run, only the change ids that the run wrote', async () => {
    await insertRows(db, 'history', [{}, {}, { change_id: '2', run_id: "'r2'" }]);
    expect(await findViolations('r2')).toEqual({});
    await insertRows(db, 'history', [{ change_id: '2', run_id: "'r2'" }]);
    expect(await findViolations('r2')).toEqual({ history_key_unique: 1n });
  });
});
