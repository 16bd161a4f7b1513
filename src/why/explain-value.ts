import type { DuckDBValue } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import type { Statements } from '../sql/connection.js';
import { valueToText } from '../sql/value-json.js';
import { loadTableSchema } from '../tables/schemas.js';
import { findLandedRows, type LandedRow, type LandedRows } from './landed-rows.js';
import {
  type Assertion,
  describeChange,
  isSameValue,
  isTold,
  listRead,
  listTold,
  pathOf,
  readChanges,
} from './told-values.js';

export type { Assertion } from './told-values.js';

/** Tables whose values can be explained, with the column that names a row. */
export const EXPLAINED = {
  items: 'item_id',
  history: 'change_id',
  offers: 'item_id',
  products: 'product_id',
  price_spread: 'product_id',
} as const;
export type ExplainedTable = keyof typeof EXPLAINED;
export const EXPLAINED_TABLES = Object.keys(EXPLAINED) as ExplainedTable[];

/** The origin of one value. */
export interface ExplainedValue {
  column: string;
  /** As text; null if there is none. */
  value: string | null;
  how: 'change' | 'read' | 'computed' | 'unknown';
  /** The word that set it; undefined if it is computed. */
  by: Assertion | undefined;
  /** In words: what it is computed from, or why more is not known. */
  note: string | undefined;
}

export interface Explanation {
  table: ExplainedTable;
  key: string;
  /** Rows of the table with this key; one per currency in price_spread. */
  rows: ExplainedValue[][];
  /** Other words about the column, newest first. */
  others: Assertion[];
  /** Listings that a computed row comes from. */
  from: { itemId: string; siteId: string | null; price: string | null; currency: string | null; isCounted: boolean }[];
  /** Runs whose landing can't be used, in words. */
  damaged: string[];
}

export interface WhySource {
  db: Statements;
  lakeRoot: string;
  signal: AbortSignal;
}

type Row = Record<string, DuckDBValue>;

/** Columns of items that pricelake computes, and from what. */
const COMPUTED: Record<string, string> = {
  gtin14: 'gtin, if its check digit is right',
  product_id: 'gtin, else brand and mpn',
  is_listed: 'removed_at and gone_at: true while both are null',
  gone_at: 'a complete copy, or a read of the item, that lacked it',
  extra: 'fields that the API document does not name',
  read_at: 'our clock, when the row was last read whole',
  change_id: 'the last change that was applied to the row after that',
  run_id: 'the run that wrote the row',
};

/**
 * Explains how a value of the lake came about, down to the landed bytes where they are kept.
 * @throws PricelakeError `usage` for a row or a column that the table does not have
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
  if (table === 'products' || table === 'price_spread') {
    const model = table === 'products' ? 'models' : 'analysis';
    const note = `pipelines/${model}/${table}.sql, from the offers of the product`;
    const explained = rows.map((row) => wanted.map((name) => compute(name, row, note)));
    return { ...shared, rows: explained, from: await listOffers(source.db, key) };
  }
  const itemId = rows[0]?.item_id;
  const landed = await findLanded(source, itemId);
  if (table === 'history') {
    const explained = rows.map((row) => wanted.map((name) => explainChange(name, row, landed)));
    return { ...shared, rows: explained, damaged: landed.damaged };
  }
  const changes = await readChanges(source.db, itemId as bigint);
  const item = (await source.db.row('FROM items WHERE item_id = $1', [itemId as bigint])) ?? {};
  const explained = wanted.map((name) => {
    const judged = table === 'offers' && pathOf(name) === undefined;
    if (judged) return compute(name, rows[0] as Row, 'pipelines/analysis/judged_offers.sql');
    return explainItem(name, item, changes, landed);
  });
  const others = column === undefined ? [] : listOthers(explained[0], listSaid(column, changes, landed.rows));
  return { ...shared, rows: [explained], others, damaged: landed.damaged };
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

async function findLanded({ db, lakeRoot, signal }: WhySource, itemId: DuckDBValue | undefined): Promise<LandedRows> {
  if (typeof itemId !== 'bigint') return { rows: [], kept: new Set(), damaged: [] };
  const row = await db.row('SELECT coalesce(max(run_number), 0)::BIGINT AS published FROM runs');
  return findLandedRows(lakeRoot, row?.published as bigint, itemId, signal);
}

async function listOffers(db: Statements, product: string): Promise<Explanation['from']> {
  const rows = await db.rows(
    'SELECT item_id, site_id, price, currency, is_counted FROM offers WHERE product_id = $1 ORDER BY currency, price, item_id LIMIT 100',
    [product],
  );
  return rows.map((row) => ({
    itemId: String(row.item_id),
    siteId: toText(row.site_id),
    price: toText(row.price),
    currency: toText(row.currency),
    isCounted: row.is_counted === true,
  }));
}

const toText = (value: DuckDBValue | undefined): string | null =>
  value === null || value === undefined ? null : valueToText(value);

const compute = (column: string, row: Row, note: string): ExplainedValue => {
  return { column, value: toText(row[column]), how: 'computed', by: undefined, note: `computed from ${note}` };
};

/** The landed fields of a change, by the columns of history. */
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
    const note = 'whole reads differ, but the feed has no change: the run compared them';
    return { column, value, how: 'computed', by: undefined, note };
  }
  const by = describeChange(row, value, path, landed.rows);
  return { column, value, how: 'change', by, note: noteMissing(by, landed) };
}

function noteMissing({ place, runId }: Assertion, { kept }: LandedRows): string | undefined {
  if (place !== undefined) return undefined;
  if (kept.has(runId)) return `the landing of run ${runId} has no line that names it`;
  return `the landing of run ${runId} is no longer kept (landing.keep)`;
}

const listSaid = (column: string, changes: readonly Row[], landed: readonly LandedRow[]): Assertion[] => [
  ...listTold(column, changes, landed),
  ...listRead(column, landed),
];

function explainItem(column: string, row: Row, changes: readonly Row[], landed: LandedRows): ExplainedValue {
  if (column in COMPUTED) return compute(column, row, COMPUTED[column] as string);
  const value = toText(row[column]);
  const reads = listRead(column, landed.rows);
  const base = findBase(row, reads);
  const applied = toText(row.change_id);
  // A change that came before the row was read whole is in the read.
  const told = listTold(column, changes, landed.rows).filter(({ change }) => {
    return applied !== null && change?.id != null && BigInt(change.id) <= BigInt(applied);
  });
  const last = told.filter((one) => isSameValue(one.value, value)).at(-1);
  const isOfRead = base !== undefined && isSameValue(base.value, value);
  if (isTold(column) && last !== undefined && isAfter(last, base, row, isOfRead)) {
    return { column, value, how: 'change', by: last, note: noteMissing(last, landed) };
  }
  if (isOfRead) return { column, value, how: 'read', by: base, note: undefined };
  if (base !== undefined) return explainDifferent(column, row, base);
  const readAt = toText(row.read_at);
  if (readAt === null) {
    const note = 'the row comes only from the feed, and no change names this value';
    return { column, value, how: 'unknown', by: undefined, note };
  }
  const also = last?.change?.id == null ? '' : `; change ${last.change.id} said the same`;
  const note = `the row was read whole at ${readAt}, by a run whose landing is no longer kept (landing.keep)${also}`;
  return { column, value, how: 'read', by: undefined, note };
}

/** True if a change came after the item was read whole. Without the bytes of the read, its time against the run's tells. */
function isAfter(change: Assertion, base: Assertion | undefined, row: Row, isOfRead: boolean): boolean {
  if (base !== undefined) return base.runId < change.runId || !isOfRead;
  const readAt = toText(row.read_at);
  return readAt === null || Date.parse(readAt) < beginOf(change.runId);
}

/** `000041-20261122T080000Z` → when the run began. */
function beginOf(runId: string): number {
  const [, day = '', time = ''] = /-(\d{8})T(\d{6})Z$/u.exec(runId) ?? [];
  const dashed = day.replace(/(\d{4})(\d{2})/u, '$1-$2-');
  return Date.parse(`${dashed}T${time.replaceAll(/(\d{2})(?=\d)/gu, '$1:')}Z`);
}

/** The landed bytes say something else: the value was typed, or a change set it whose words say no more. */
function explainDifferent(column: string, row: Row, base: Assertion): ExplainedValue {
  const value = toText(row[column]);
  const note = `the landed text was cast exactly (pipelines/models/items.sql)${isTold(column) ? ', or a later change moved it' : ''}`;
  return { column, value, how: 'read', by: base, note };
}

/** The read that made the row: the one of its time, else the last before its run. */
function findBase(row: Row, reads: readonly Assertion[]): Assertion | undefined {
  const readAt = Date.parse(toText(row.read_at) ?? '');
  const ofTime = reads.filter((one) => Date.parse(one.readAt ?? '') === readAt);
  return ofTime.at(-1) ?? reads.filter((one) => Date.parse(one.readAt ?? '') < readAt).at(-1);
}

function listOthers(explained: ExplainedValue | undefined, said: readonly Assertion[]): Assertion[] {
  const isSame = (one: Assertion) =>
    one.kind === explained?.by?.kind &&
    one.change?.id === explained.by.change?.id &&
    one.place?.file === explained.by.place?.file;
  const at = (one: Assertion) => one.observedAt ?? one.readAt ?? '';
  return said
    .filter((one) => !isSame(one))
    .sort((a, b) => b.runId.localeCompare(a.runId) || at(b).localeCompare(at(a)));
}
