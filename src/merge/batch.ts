import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier, quoteList, quoteLiteral } from '../duckdb/quote.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import type { ItemValue } from '../typing/item-names.js';
import type { Origin, TypedFile } from '../typing/type-file.js';

/** The table's columns as a select list. */
export function selectColumns(table: TableName): string {
  return loadTableSchema(table)
    .columns.map((column) => quoteIdentifier(column.name))
    .join(', ');
}

/** Rows of a kind: all that were typed, and how many of them repeat another. */
export interface Tally {
  typed: bigint;
  repeated: bigint;
}

/** So many rows are kept in a table; more stay in their files, so that memory stays the same however many there are. */
export const FEW_ROWS = 50_000;

/** What rows of typed files are read into. */
export function chooseKind(files: readonly TypedFile[]): 'table' | 'view' {
  return files.reduce((sum, { rows }) => sum + rows, 0) > FEW_ROWS ? 'view' : 'table';
}

/** SQL of the typed rows of these files that fit, each with its place: `filename` and `file_row_number`. */
export function goodRows(files: readonly TypedFile[]): string {
  const paths = quoteList(files.map((file) => file.typedPath));
  return `SELECT * FROM read_parquet(${paths}, filename = true, file_row_number = true) WHERE reject_reason IS NULL`;
}

/**
 * Table `repeated_<name>`: the places of typed rows that another row of the same `key` stands for, the first by `order`.
 * Returns SQL of the relation without them. Few rows are repeated, those that moved while parts were read. They are put
 * in order once: a view that did so would, for each slice that is read of it, over all rows.
 */
export async function leaveOutRepeated(
  db: Database,
  { name, rows, key, order }: { name: string; rows: string; key: string; order: string },
): Promise<string> {
  await db.define(
    'table',
    `repeated_${name}`,
    `SELECT filename, file_row_number FROM ${rows}
    SEMI JOIN (SELECT ${key} FROM ${rows} GROUP BY ${key} HAVING count(*) > 1) USING (${key})
    QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY ${order}) > 1`,
  );
  return `${rows} ANTI JOIN repeated_${name} USING (filename, file_row_number)`;
}

/** What typed rows of items have beside the table's columns. */
const TYPED_COLUMNS = [
  { name: 'part', type: 'VARCHAR' },
  { name: 'site_attribution', type: 'VARCHAR' },
];

/**
 * `exported_items` and `reread_items`: one row an item, the newest, from exports and pages, and from whole reads after
 * the changes; `typed_exported_items` and `typed_reread_items` are all of them. With `absent`, needs the view `items`.
 */
export async function createItemViews(
  db: Database,
  files: TypedFile[],
  absent: readonly ItemValue[] = [],
): Promise<{ exported: Tally; reread: Tally }> {
  const exported = await createItemView(db, 'exported_items', ['export', 'page'], files, absent);
  return { exported, reread: await createRereads(db, files) };
}

/** `reread_items` and `typed_reread_items` alone. */
export async function createRereads(db: Database, files: TypedFile[]): Promise<Tally> {
  return createItemView(db, 'reread_items', ['reread'], files);
}

async function createItemView(
  db: Database,
  name: string,
  origins: readonly Origin[],
  files: TypedFile[],
  absent: readonly ItemValue[] = [],
): Promise<Tally> {
  const own = files.filter((file) => origins.includes(file.origin));
  const made = madeOf.get(db) ?? new Map<string, Made>();
  madeOf.set(db, made);
  const source = JSON.stringify([own.map(({ typedPath }) => typedPath), absent]);
  const before = made.get(name);
  if (before?.source === source) return before.tally;
  made.delete(name);
  const tally = own.length === 0 ? await createNoItems(db, name) : await readItems(db, name, own, absent);
  made.set(name, { source, tally });
  return tally;
}

/** What a view of items was made of: typed files never change, so the same is not read again. */
interface Made {
  source: string;
  tally: Tally;
}
const madeOf = new WeakMap<Database, Map<string, Made>>();

async function readItems(
  db: Database,
  name: string,
  own: readonly TypedFile[],
  absent: readonly ItemValue[],
): Promise<Tally> {
  const kind = chooseKind(own);
  await db.define(
    kind,
    `typed_${name}`,
    `SELECT * REPLACE (dataset_names(datasets) AS datasets) FROM (${goodRows(own)})`,
  );
  const tally = await countRepeated(db, `typed_${name}`, 'item_id');
  const all = `typed_${name}`;
  const order = 'last_changed_at DESC NULLS LAST, last_seen_at DESC NULLS LAST, read_at DESC, part DESC';
  const newest = tally.repeated === 0n ? all : await leaveOutRepeated(db, { name, rows: all, key: 'item_id', order });
  const rows = `SELECT ${selectColumns('items')} FROM ${newest}`;
  await db.define(newest === all && absent.length === 0 ? 'view' : kind, name, keepAbsent(rows, absent));
  return tally;
}

async function createNoItems(db: Database, name: string): Promise<Tally> {
  const { columns } = loadTableSchema('items');
  await db.defineEmpty(`typed_${name}`, [...columns, ...TYPED_COLUMNS]);
  await db.defineEmpty(name, columns);
  return { typed: 0n, repeated: 0n };
}

/** Items without a column that every export row lacks keep what the lake has in it: a field left out is no null. */
function keepAbsent(rows: string, absent: readonly ItemValue[]): string {
  if (absent.length === 0) return rows;
  const value = (name: ItemValue) => (absent.includes(name) ? `coalesce(e.${name}, k.${name})` : `e.${name}`);
  const follows = [
    `valid_gtin14(${value('gtin')}) AS gtin14`,
    `product_key(${value('gtin')}, ${value('brand')}, ${value('mpn')}) AS product_id`,
  ];
  return `SELECT e.* REPLACE (${[...absent.map((name) => `${value(name)} AS ${name}`), ...follows].join(', ')})
    FROM (${rows}) AS e LEFT JOIN items AS k ON k.item_id = e.item_id`;
}

export async function countRepeated(db: Database, view: string, key: string): Promise<Tally> {
  const row = await db.row(`SELECT count(*) AS typed, count(*) - count(DISTINCT ${key}) AS repeated FROM ${view}`);
  return { typed: row?.typed as bigint, repeated: row?.repeated as bigint };
}

/** SQL of table `rejects`: the rows that could not be typed, with place, reason and raw text. */
export function selectRejects(items: TypedFile[], changes: TypedFile[], at: string): string | undefined {
  const parts = [...rejectParts('items', items), ...rejectParts('history', changes)];
  if (parts.length === 0) return undefined;
  return `SELECT CAST(getvariable('run_id') AS VARCHAR) AS run_id, table_name, part, line_number, reason, raw,
    CAST(${quoteLiteral(at)} AS TIMESTAMP WITH TIME ZONE) AS rejected_at FROM (${parts.join(' UNION ALL ')})`;
}

function rejectParts(table: TableName, files: TypedFile[]): string[] {
  return files.flatMap((file) => {
    const place = `'${table}' AS table_name, ${quoteList([file.part])}[1] AS part`;
    const typed = `SELECT ${place}, line_number, reject_reason AS reason, raw
      FROM read_parquet(${quoteList([file.typedPath])}) WHERE reject_reason IS NOT NULL`;
    if (file.badPath === undefined) return [typed];
    return [
      typed,
      `SELECT ${place}, n AS line_number, reason, raw FROM read_json(${quoteList([file.badPath])},
        format = 'newline_delimited', columns = {n: 'BIGINT', raw: 'VARCHAR', reason: 'VARCHAR'})`,
    ];
  });
}
