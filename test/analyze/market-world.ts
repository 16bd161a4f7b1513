import { createSpellsView } from '../../src/analyze/analysis.js';
import type { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { fillDerived, insertRows, openEmptyTables, type Row } from '../check/lake-world.js';

export const text = quoteLiteral;
export const time = (iso: string) => `TIMESTAMPTZ '${iso}'`;

/** Text that must remain plain text in every place. */
export const HOSTILE = `"><script>window.broken=1</script><img src=x onerror="window.broken=1">' onload=window.broken=1 x='\${broken}\`-->]]></svg></style>\u202egnp.exe\u2028\u0085&lt;`;

export interface WorldRows {
  items?: Row[];
  history?: Row[];
  sites?: Row[];
  runs?: Row[];
  checks?: Row[];
  datasets?: Row[];
  days?: Row[];
}

/** Tables in memory with these rows, and the derived tables that follow from them. */
export async function openMarket(rows: WorldRows): Promise<Database> {
  const db = await openEmptyTables();
  await insertRows(db, 'sites', rows.sites ?? []);
  await insertRows(db, 'items', rows.items ?? []);
  await insertRows(db, 'history', rows.history ?? []);
  const fill = (given: Row[] | undefined, base: Row) => given?.map((row) => ({ ...base, ...row })) ?? [];
  await insertRows(db, 'runs', fill(rows.runs, RUN));
  await insertRows(db, 'check_results', fill(rows.checks, CHECK));
  await insertRows(db, 'datasets', fill(rows.datasets, DATASET));
  await fillDerived(db);
  await insertRows(db, 'price_spread_daily', rows.days ?? []);
  await createSpellsView(db);
  return db;
}

const RUN: Row = {
  pipeline: text('prices'),
  mode: text('feed'),
  reason: text('the feed reaches back far enough'),
  finished_at: time('2026-11-20T09:00:00Z'),
  seconds: '60',
  caught_up: 'true',
  caught_up_at: time('2026-11-20T08:59:30Z'),
  calls: '7',
  overage: 'false',
  differences: '0',
  gone: '0',
  sampled: '10',
  sample_mismatches: '0',
  products_compared: '50',
  products_different: '0',
  duckdb_version: text('v1.5.6'),
};

const CHECK: Row = {
  run_id: text('r1'),
  name: text('items_key_unique'),
  severity: text('gate'),
  description: text('Every item id stands in items once.'),
  violations: '0',
  let_through: 'false',
  sample: text('[]'),
  checked_at: time('2026-11-20T09:00:00Z'),
};

const DATASET: Row = {
  name: text('Groceries'),
  items: '5',
  sites: '4',
  models: '4',
  healthy_models: '3',
  newest_scrape_at: time('2026-11-20T08:00:00Z'),
  read_at: time('2026-11-20T08:59:00Z'),
  run_id: text('r1'),
};

/** A kettle in five shops, one of them of open data, and what became of its price; `title` and `site` may be hostile. */
export function kettleWorld({ title = 'Kettle', shop = 'Alpha', credit = 'Open Prices, CC BY 4.0' } = {}): WorldRows {
  const prices = ['10.0001', '12', '15', '18.5', '20'];
  return {
    sites: prices.map((_, k) => ({
      site_id: String(k + 1),
      name: k === 0 ? text(shop) : text(`Shop ${k + 1}`),
      host: text(`shop-${k + 1}.example`),
      ...(k === 1 ? { attribution: text(credit) } : {}),
    })),
    items: prices.map((price, k) => ({
      item_id: String(9_007_199_254_740_993n + BigInt(k)),
      title: text(title),
      brand: text(title),
      site_id: String(k + 1),
      price,
      category_slug: text('kettles'),
      category_name: text(title),
      category_path: text(`Kitchen > ${title}`),
      datasets: `[${text('Groceries')}]`,
      url: text(k === 0 ? 'javascript:window.broken=1' : `https://shop-${k + 1}.example/p?a=1&b="2"`),
    })),
    history: [
      change('11', 'CHANGED', '2026-10-01T06:00:00Z', '12', '14'),
      change('12', 'REMOVED', '2026-10-20T06:00:00Z', '12'),
      change('13', 'RELISTED', '2026-11-01T06:00:00Z', '10.0001'),
      change('14', 'CHANGED', '2026-11-20T08:00:00Z', '10.0001'),
    ],
    runs: [{}, { run_number: '2', run_id: text('r2') }],
    checks: [
      { run_id: text('r2') },
      {
        run_id: text('r2'),
        name: text('price_not_negative'),
        severity: text('error'),
        description: text('No price is below zero.'),
        violations: '2',
        sample: text(JSON.stringify([{ item_id: 1, title }]).replace('1', '9007199254740993')),
      },
    ],
    datasets: [{ name: text(title) }],
  };
}

function change(id: string, kind: string, at: string, price: string, before?: string): Row {
  return {
    change_id: id,
    item_id: '9007199254740993',
    kind: text(kind),
    observed_at: time(at),
    observed_date: `DATE '${at.slice(0, 10)}'`,
    price,
    ...(before === undefined ? {} : { previous_price: before }),
  };
}
