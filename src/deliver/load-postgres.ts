import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { PricelakeError } from '../io/errors.js';
import { requireFiles } from '../lake/partial.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { planLoad, type TableLoad } from './load-plan.js';
import {
  type LoadTarget,
  nameTable,
  selectLoads,
  writeApply,
  writeCreate,
  writeLoadsTable,
  writeMissingColumns,
  writePicked,
} from './load-sql.js';
import { holdsJson, writeCopyText } from './postgres-copy.js';
import { SQL_DIALECTS, type SqlDialect } from './sql-dialects.js';
import { nameStage, nameTarget } from './warehouses.js';

interface PostgresLoad {
  db: Database;
  lake: Lake;
  tables: readonly TableName[];
  schema: string | undefined;
  /** The path of a temporary file that DuckDB writes and this process reads. */
  scratch: string;
  /**
   * True to load everything, even if an incremental load is possible. This may replace a copy of another lake or of a
   * later run.
   */
  isFull: boolean;
  signal: AbortSignal;
}

export interface LoadedTable {
  table: TableName;
  since: bigint | null;
  run: bigint;
  /** The number of copied rows. */
  rows: bigint;
}

/**
 * Updates the copy in a PostgreSQL database to the lake's newest run, in one transaction. Loads the changes of each
 * table since the run that the copy records. Loads a table in full if the copy doesn't record a run, or the lake can't
 * determine the changes.
 * @throws PricelakeError `copy_differs` if the copy is from another lake or a later run, or has a different number of
 * rows than the lake
 */
export async function loadPostgres(client: Client, wish: PostgresLoad): Promise<LoadedTable[]> {
  const typeOf: SqlDialect['typeOf'] = (column) => (holdsJson(column) ? 'jsonb' : undefined);
  const target = { ...nameTarget('postgres', wish.schema), dialect: { ...SQL_DIALECTS.postgres, typeOf } };
  const done: LoadedTable[] = [];
  await client.query('BEGIN');
  try {
    // Takes a lock, so that concurrent loads into the same schema run one after another.
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`pricelake ${wish.schema ?? ''}`]);
    if (wish.schema !== undefined)
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${target.dialect.quote(wish.schema)}`);
    await client.query(writeLoadsTable(target));
    const { rows } = await client.query(selectLoads(target));
    const standing = new Map(
      rows.map((row) => [row.table_name, { id: row.table_id, run: BigInt(String(row.run_number)) }]),
    );
    for (const table of wish.tables) {
      wish.signal.throwIfAborted();
      const load = await choosePlan(wish, table, standing.get(table));
      done.push({ table, since: load.since ?? null, run: load.run, rows: await loadTable(client, wish, target, load) });
      await requireTotal(client, target, load);
    }
    // THE COMMIT POINT: the rows and the recorded runs become visible together.
    await client.query('COMMIT');
    return done;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}); // the connection itself may have failed
    throw error;
  }
}

/** The table id and the run that are recorded in the copy. */
interface Standing {
  id: unknown;
  run: bigint;
}

async function choosePlan({ lake, isFull }: PostgresLoad, table: TableName, standing: Standing | undefined) {
  const whole = await planLoad(lake, table, undefined);
  if (isFull || standing === undefined) return whole;
  refuseOther(whole, standing);
  try {
    return await planLoad(lake, table, standing.run);
  } catch (error) {
    if (!(error instanceof PricelakeError) || error.code !== 'usage') throw error;
    return whole;
  }
}

/** Throws if the load would revert the copy to an older run, or replace it with data from another lake. */
function refuseOther({ table, tableId, run }: TableLoad, standing: Standing): void {
  if (standing.id === tableId && standing.run <= run) return;
  const other = standing.id === tableId ? '' : ` of another lake (its table ${standing.id}; here is ${tableId})`;
  const facts = { table, copyRun: standing.run, lakeRun: run, copyTable: standing.id, lakeTable: tableId };
  throw new PricelakeError(
    'copy_differs',
    `the copy of ${table} is at run ${standing.run}${other}, but this lake is at run ${run}; nothing was changed`,
    {
      hint: 'Load the lake that the copy was made from, or replace the copy with this lake by passing --full.',
      ...facts,
    },
  );
}

async function loadTable(client: Client, { db, lake, scratch }: PostgresLoad, target: LoadTarget, load: TableLoad) {
  const { table, columns } = load;
  const { rows: found } = await client.query('SELECT to_regclass($1) AS name', [nameTable(target, table)]);
  if (found[0]?.name == null) await runAll(client, writeCreate(target, load));
  else if (load.since === undefined) await runAll(client, writeMissingColumns(target, load));
  if (load.rows.kind === 'none') {
    await runAll(client, writeApply(target, load, ''));
    return 0n;
  }
  const stage = nameStage('postgres', target, table);
  await client.query(`CREATE TEMP TABLE ${stage} (LIKE ${nameTable(target, table)}) ON COMMIT DROP`);
  await requireFiles(lake, table, load.files);
  const files = load.files.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
  const where = writePicked({ dialect: SQL_DIALECTS.ddl }, load, 'WHERE');
  const select = `SELECT * FROM ${tableRelation(table, files)}${where}`;
  const rows = await copyRows(client, db, writeCopyText(select, columns, scratch), { stage, columns, scratch });
  if (load.since === undefined)
    await client.query(`DELETE FROM ${nameTable(target, 'pricelake_loads')} WHERE table_name = $1`, [table]);
  await runAll(client, writeApply(target, load, stage));
  return rows;
}

/** Compares the number of rows in the copy and in the lake, to detect rows that another program added or deleted. */
async function requireTotal(client: Client, target: LoadTarget, { table, run, total }: TableLoad): Promise<void> {
  const { rows } = await client.query(`SELECT count(*) AS n FROM ${nameTable(target, table)}`);
  const copied = BigInt(String(rows[0]?.n));
  if (copied === total) return;
  throw new PricelakeError(
    'copy_differs',
    `the copy of ${table} would have ${copied} rows, but run ${run} of the lake has ${total}, so something else has changed the copy; nothing was loaded`,
    { hint: 'Load everything with --full.', table, copyRows: copied, lakeRows: total },
  );
}

/** Copies the rows of a query to a staging table, through a file that DuckDB writes. Returns the number of rows. */
async function copyRows(
  client: Client,
  db: Database,
  sql: string,
  { stage, columns, scratch }: { stage: string; scratch: string } & Pick<TableLoad, 'columns'>,
): Promise<bigint> {
  const { from } = await import('pg-copy-streams');
  const counted = await db.rows(sql);
  try {
    const list = columns.map(({ name }) => quoteIdentifier(name)).join(', ');
    await pipeline(createReadStream(scratch), client.query(from(`COPY ${stage} (${list}) FROM STDIN`)));
  } finally {
    await rm(scratch, { force: true });
  }
  return BigInt(String(counted[0]?.Count ?? 0));
}

async function runAll(client: Client, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement);
}
