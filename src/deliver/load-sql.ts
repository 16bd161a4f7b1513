import { PricelakeError } from '../io/errors.js';
import { type ColumnType, loadTableSchema } from '../tables/schemas.js';
import type { TableLoad } from './load-plan.js';
import { type SqlDialect, writeStatements, writeType } from './sql-dialects.js';

/** The location of a copy, and its SQL dialect. */
export interface LoadTarget {
  dialect: SqlDialect;
  /** A schema such as `analytics` or `project.dataset`; undefined for the session's default schema. */
  schema: string | undefined;
  /** False if a transaction can contain only one statement. Items are then updated by a single statement. */
  hasTransactions: boolean;
}

/** The table in the warehouse that records, for each loaded table, the last run that was loaded. */
const LOADS = 'pricelake_loads';
const MAX_NAME = 128;
const SCHEMA_NAME = /^[\p{L}_][\p{L}\p{N}_$-]*(\.[\p{L}_][\p{L}\p{N}_$-]*)?$/u;

/** Checks a schema name. @throws PricelakeError `usage` for a name that isn't safe in SQL without quotes */
export function requireSchemaName(schema: string | undefined): void {
  if (schema === undefined || (schema.length <= MAX_NAME && SCHEMA_NAME.test(schema))) return;
  throw new PricelakeError(
    'usage',
    `--schema ${JSON.stringify(schema)} is not a schema name such as analytics or project.dataset`,
  );
}

export function nameTable({ dialect, schema }: LoadTarget, table: string): string {
  return [...(schema?.split('.') ?? []), table].map(dialect.quote).join('.');
}

/** Returns statements that create a missing table of the copy, with descriptions. */
export function writeCreate(target: LoadTarget, load: TableLoad): string[] {
  const schema = loadTableSchema(load.table);
  // Only key columns are NOT NULL, because a column that is added later has no values in existing rows.
  const columns = load.columns.map((column) => ({
    ...column,
    nullable: column.nullable || !schema.key.includes(column.name),
  }));
  const name = nameTable(target, load.table);
  return writeStatements({ ...schema, columns }, target.dialect, 'CREATE TABLE IF NOT EXISTS', name);
}

/** Returns statements that add missing columns to a copy that another version of pricelake made. */
export function writeMissingColumns(target: LoadTarget, { table, columns }: TableLoad): string[] {
  const { dialect } = target;
  return columns.map(
    (column) =>
      `ALTER TABLE ${nameTable(target, table)} ADD COLUMN IF NOT EXISTS ${dialect.quote(column.name)} ${writeType(column, dialect)}`,
  );
}

export function writeLoadsTable(target: LoadTarget): string {
  const { types, quote } = target.dialect;
  const texts = ['table_name', 'table_id'].map((name) => `${quote(name)} ${types.VARCHAR} NOT NULL, `).join('');
  return `CREATE TABLE IF NOT EXISTS ${nameTable(target, LOADS)} (${texts}${quote('run_number')} ${types.BIGINT} NOT NULL, ${quote('loaded_at')} ${types['TIMESTAMP WITH TIME ZONE']})`;
}

export function selectLoads(target: LoadTarget): string {
  return `SELECT table_name, table_id, run_number FROM ${nameTable(target, LOADS)}`;
}

/**
 * Returns statements that update a table of the copy from `load.since` to `load.run`. They change nothing unless the
 * copy is at run `load.since`. For a full load, they change nothing if the copy is already at `load.run` or later.
 */
export function writeApply(target: LoadTarget, load: TableLoad, stage: string): string[] {
  const guard = writeGuard(target, load);
  const { quote } = target.dialect;
  const name = nameTable(target, load.table);
  const columns = load.columns.map((column) => quote(column.name));
  const list = columns.join(', ');
  const record = writeRecord(target, load);
  if (load.rows.kind === 'none') return record;
  const picked = `${guard}${writePicked(target, load, 'AND')}`;
  const select = `SELECT ${list} FROM ${stage} WHERE ${picked}`;
  const key = load.rows.kind === 'keys' ? quote(load.rows.key) : undefined;
  if (key !== undefined && !target.hasTransactions) return [mergeRows(name, select, key, columns), ...record];
  const replaced = key === undefined ? picked : `${key} IN (SELECT ${key} FROM ${stage} WHERE ${picked})`;
  return [`DELETE FROM ${name} WHERE ${replaced}`, `INSERT INTO ${name} (${list}) ${select}`, ...record];
}

function mergeRows(name: string, select: string, key: string, columns: readonly string[]): string {
  return `MERGE INTO ${name} AS t USING (${select}) AS s ON t.${key} = s.${key}
WHEN MATCHED THEN UPDATE SET ${columns.map((column) => `${column} = s.${column}`).join(', ')}
WHEN NOT MATCHED THEN INSERT (${columns.join(', ')}) VALUES (${columns.map((column) => `s.${column}`).join(', ')})`;
}

/**
 * Builds an SQL condition that is true if the copy is at run `since`. For a full load, it is true unless the copy is
 * already at `run` or later.
 */
function writeGuard(target: LoadTarget, { table, tableId, since, run }: TableLoad): string {
  const { quote, quoteText } = target.dialect;
  const row = `${quote('table_name')} = ${quoteText(table)} AND ${quote('table_id')} = ${quoteText(tableId)}`;
  const exists = (condition: string) =>
    `EXISTS (SELECT 1 FROM ${nameTable(target, LOADS)} WHERE ${row} AND ${quote('run_number')} ${condition})`;
  return since === undefined ? `NOT ${exists(`>= ${run}`)}` : exists(`= ${since}`);
}

function writeRecord(target: LoadTarget, { table, tableId, since, run }: TableLoad): string[] {
  const { quote, quoteText } = target.dialect;
  const loads = nameTable(target, LOADS);
  const here = `${quote('table_name')} = ${quoteText(table)}`;
  const id = `${quote('table_id')} = ${quoteText(tableId)}`;
  if (since !== undefined) {
    return [
      `UPDATE ${loads} SET ${quote('run_number')} = ${run}, ${quote('loaded_at')} = CURRENT_TIMESTAMP WHERE ${here} AND ${id} AND ${quote('run_number')} = ${since}`,
    ];
  }
  const columns = ['table_name', 'table_id', 'run_number', 'loaded_at'].map(quote).join(', ');
  return [
    `DELETE FROM ${loads} WHERE ${here} AND (NOT ${id} OR ${quote('run_number')} < ${run})`,
    `INSERT INTO ${loads} (${columns}) SELECT ${quoteText(table)}, ${quoteText(tableId)}, ${run}, CURRENT_TIMESTAMP FROM (SELECT 1 AS one) AS one WHERE NOT EXISTS (SELECT 1 FROM ${loads} WHERE ${here})`,
  ];
}

/** Builds a condition for the rows to load, which are also the rows to replace in the copy. Returns '' for all rows. */
export function writePicked(
  { dialect }: Pick<LoadTarget, 'dialect'>,
  { table, rows }: TableLoad,
  word: 'AND' | 'WHERE',
): string {
  if (rows.kind === 'all' || rows.kind === 'none') return '';
  const { quote, quoteText } = dialect;
  const types = Object.fromEntries(loadTableSchema(table).columns.map(({ name, type }) => [name, type]));
  const byRun = `${quote('run_id')} IN (${rows.runIds.map(quoteText).join(', ')})`;
  const partitions = rows.kind === 'keys' ? [] : rows.partitions;
  const byPartition = partitions.map((values) =>
    Object.entries(values)
      .map(([name, text]) => writeEqual(quote(name), text, types[name] ?? 'VARCHAR', dialect))
      .join(' AND '),
  );
  return ` ${word} (${[byRun, ...byPartition].join(' OR ')})`;
}

function writeEqual(column: string, text: string | null, type: ColumnType, { types, quoteText }: SqlDialect): string {
  if (text === null) return `${column} IS NULL`;
  return type === 'VARCHAR'
    ? `${column} = ${quoteText(text)}`
    : `${column} = CAST(${quoteText(text)} AS ${types[type]})`;
}
