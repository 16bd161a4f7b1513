import { listDerived, selectDerived } from '../../src/analyze/derived-tables.js';
import { Database } from '../../src/sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../../src/sql/quote.js';
import { itself } from '../../src/sql/sql.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';

/** Column → SQL text of its value; columns left out get a plain valid value of their type. */
export type Row = Record<string, string>;

/** Makes an empty table of the contract, under another name if one is given, in place of the one that is there. */
export async function createTable(db: Database, table: TableName, name: string = table): Promise<void> {
  const columns = loadTableSchema(table).columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
  await db.run(`CREATE OR REPLACE TABLE ${quoteIdentifier(name)} (${columns.join(', ')})`);
}

/** A database with every table of the contract, empty, for a file of tests. */
export async function openEmptyTables(): Promise<Database> {
  const db = await Database.open();
  for (const table of TABLE_NAMES) await createTable(db, table);
  return db;
}

/** Websites with license texts, now and before. */
export const insertCredits = (db: Database) =>
  insertRows(db, 'sites', [
    { site_id: '1', attribution: "'CC BY 4.0'" },
    { site_id: '1', attribution: "'CC BY 3.0'", is_current: 'false' },
    { site_id: '2' },
    { site_id: '3', attribution: "'CC0'" },
  ]);

/** Inserts rows given as SQL texts by column; the rest is NULL, or the table's plain value. */
export async function insertRows(db: Database, table: TableName, rows: Row[]): Promise<void> {
  for (const row of rows) {
    const full = { ...PLAIN[table], ...row };
    const names = Object.keys(full).map(quoteIdentifier).join(', ');
    await db.run(`INSERT INTO ${quoteIdentifier(table)} (${names}) VALUES (${Object.values(full).join(', ')})`);
  }
}

/** SQL of each derived table's rows, as they follow from the tables of a session. */
export const derivedSelects = (runId = 'r1') =>
  listDerived().map((one) => ({
    ...one,
    select: selectDerived(one, Object.fromEntries(one.reads.map((read) => [read, itself(read)])), runId).text,
  }));

/** Fills the derived tables of a session. */
export async function fillDerived(db: Database): Promise<void> {
  for (const { table, select } of derivedSelects()) await db.run(`INSERT INTO ${table} ${select}`);
}

const text = quoteLiteral;

const PLAIN: Partial<Record<TableName, Row>> = {
  items: {
    item_id: '1',
    title: text('Kettle'),
    gtin: text('4006381333931'),
    gtin14: text('04006381333931'),
    product_id: text('4006381333931'),
    price: '10',
    currency: text('EUR'),
    site_id: '1',
    is_listed: 'true',
    first_seen_at: "TIMESTAMPTZ '2026-01-01 00:00:00Z'",
    run_id: text('r1'),
  },
  history: {
    change_id: '1',
    item_id: '1',
    kind: text('CHANGED'),
    observed_at: "TIMESTAMPTZ '2026-01-01 00:00:00Z'",
    observed_date: "DATE '2026-01-01'",
    origin: text('feed'),
    run_id: text('r1'),
  },
  sources: { site_id: '1' },
  sites: {
    site_id: '1',
    name: text('Shop'),
    host: text('shop.example'),
    valid_from: "TIMESTAMPTZ '2026-01-01 00:00:00Z'",
    is_current: 'true',
    run_id: text('r1'),
  },
  runs: {
    run_number: '1',
    run_id: text('r1'),
    export_rows: '10',
    export_rows_landed: '10',
    export_rows_lost: '0',
    received: '10',
    written: '8',
    rejected: '0',
    deduplicated: '2',
  },
  datasets: {
    dataset_id: '1',
    name: text('Kitchen'),
    items: '1',
    sites: '1',
    models: '10',
    healthy_models: '9',
    newest_scrape_at: "TIMESTAMPTZ '2026-01-01 00:00:00Z'",
    oldest_scrape_at: "TIMESTAMPTZ '2025-12-31 00:00:00Z'",
    read_at: "TIMESTAMPTZ '2026-01-01 12:00:00Z'",
    run_id: text('r1'),
  },
  price_spread: {
    product_id: text('4006381333931'),
    currency: text('EUR'),
    offers: '2',
    shops: '2',
    min: '10',
    p25: '10',
    median: '10',
    p75: '10',
    max: '10',
    mean: '10',
    stddev: '0',
    spread: '0',
    spread_pct: '0',
    cheapest_site_id: '1',
    dearest_site_id: '1',
    grade: text('B'),
    left_out: '0',
    trusted_shops: '2',
    trusted_min: '10',
    trusted_median: '10',
    trusted_max: '10',
    attribution: '[]',
    run_id: text('r1'),
  },
};
PLAIN.price_spread_daily = { ...PLAIN.price_spread, day: "DATE '2026-01-01'" };
