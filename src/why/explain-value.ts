import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type Assertion, describeChange, pathOf } from './asserted-values.js';
import { explainDerived, type FromOffer } from './explain-derived.js';
import { compute, type ExplainedValue, explainItem, listOthers, noteMissing } from './explain-item.js';
import { type ItemFacts, type Row, readItemFacts, toText, type WhySource } from './item-facts.js';
import type { LandedRows } from './landed-rows.js';

export type { Assertion } from './asserted-values.js';
export type { FromOffer } from './explain-derived.js';
export type { ExplainedValue } from './explain-item.js';
export type { WhySource } from './item-facts.js';

/** The tables whose values can be explained, with the column that identifies a row. */
export const EXPLAINED = {
  items: 'item_id',
  history: 'change_id',
  offers: 'item_id',
  products: 'product_id',
  price_spread: 'product_id',
} as const;
export type ExplainedTable = keyof typeof EXPLAINED;
export const EXPLAINED_TABLES = Object.keys(EXPLAINED) as ExplainedTable[];

export interface Explanation {
  table: ExplainedTable;
  key: string;
  /** The rows with this key. There may be several: price_spread has one for each currency. */
  rows: ExplainedValue[][];
  /** The changes and reads that set the column, newest first, except the one that explains the value. */
  others: Assertion[];
  /** The listings on which a computed row is based. */
  from: FromOffer[];
  /** A sentence for each run whose downloaded files can't be used. */
  damaged: string[];
}

/**
 * Explains where a value in the lake comes from. Shows the downloaded line if it is still kept.
 * @throws PricelakeError `usage` if the table has no such row or column
 */
export async function explainValue(
  source: WhySource,
  { table, key, column }: { table: ExplainedTable; key: string; column?: string | undefined },
): Promise<Explanation> {
  requireColumn(table, column);
  const rows = await readRows(source, table, key);
  const columns = loadTableSchema(table).columns.map(({ name }) => name);
  const wanted = column === undefined ? columns : [column];
  const shared = { table, key, from: [], others: [], damaged: [] };
  const isJudged = (name: string) => table === 'offers' && pathOf(name) === undefined;
  if (table === 'products' || table === 'price_spread' || (table === 'offers' && column && isJudged(column))) {
    return { ...shared, ...(await explainDerived(source, { table, column, wanted }, rows)) };
  }
  const [row = {}] = rows;
  const facts = await readFacts(source, row);
  const { landed } = facts;
  if (table === 'history') {
    const explained = rows.map((one) => wanted.map((name) => explainChange(name, one, landed)));
    return { ...shared, rows: explained, damaged: landed.damaged };
  }
  const explained = wanted.map((name) =>
    isJudged(name) ? compute(name, row, 'pipelines/analysis/judged_offers.sql') : explainItem(name, facts),
  );
  const [only] = explained;
  const others = column === undefined || only === undefined ? [] : listOthers(column, only, facts);
  return { ...shared, rows: [explained], others, damaged: landed.damaged };
}

/** Reads the facts about a row's item. The facts are empty if the row is a change that doesn't name its item. */
async function readFacts(source: WhySource, { item_id: id }: Row): Promise<ItemFacts> {
  const [facts] = typeof id === 'bigint' ? await readItemFacts(source, [id]) : [];
  return facts ?? { item: {}, changes: [], landed: { rows: [], kept: new Set(), damaged: [] } };
}

function requireColumn(table: ExplainedTable, column: string | undefined): void {
  const names = loadTableSchema(table).columns.map(({ name }) => name);
  if (column === undefined || names.includes(column)) return;
  const near = suggestName(column, names);
  throw new PricelakeError('usage', `${table} has no column ${column}`, {
    hint: near === undefined ? `It has ${names.join(', ')}.` : `Did you mean ${near}?`,
  });
}

async function readRows({ db }: WhySource, table: ExplainedTable, key: string): Promise<Row[]> {
  const name = EXPLAINED[table];
  const isNumber = name !== 'product_id';
  const rows =
    isNumber && !/^-?\d{1,19}$/u.test(key)
      ? []
      : await db.rows(`FROM ${table} WHERE ${name} = $1${isNumber ? '::BIGINT' : ''} ORDER BY ALL LIMIT 100`, [key]);
  if (rows.length > 0) return rows;
  throw new PricelakeError('usage', `${table} has no row with ${name} ${key}`, {
    hint: `Find one with \`pricelake query "FROM ${table} LIMIT 10"\`.`,
  });
}

/** Maps columns of history to the fields of a downloaded change. */
const CHANGE_PATHS: Record<string, string> = {
  ...{ change_id: 'id', item_id: 'item.id', kind: 'kind', observed_at: 'observedAt', price: 'price' },
  ...{ previous_price: 'previousPrice', currency: 'item.currency', changes: 'changes', title: 'item.title' },
  ...{ url: 'item.url', site_id: 'item.site.id' },
};

function explainChange(column: string, row: Row, landed: LandedRows): ExplainedValue {
  const path = CHANGE_PATHS[column];
  if (path === undefined) return compute(column, row, column === 'observed_date' ? 'observed_at' : 'the run');
  const value = toText(row[column]);
  if (row.origin === 'diff') {
    const note =
      'the run compared a full read of the item with the lake, and no change in the feed explains the difference';
    return { column, value, how: 'computed', by: undefined, note };
  }
  const by = describeChange(row, value, path, landed.rows);
  return { column, value, how: 'change', by, note: noteMissing(by, landed) };
}
