import type { DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../../duckdb/connection.js';
import { rowToJson, valueToText } from '../../duckdb/value-json.js';
import { type Pointer, readPointer } from '../../lake/publish.js';
import { countFiles } from '../../webhook/event-files.js';
import { RawJson } from '../json-text.js';
import { type Align, layOutTable } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatBytes, formatCount } from '../progress.js';
import { readLake } from '../read-lake.js';
import type { CommandContext, CommandReport } from '../run-command.js';

const RUNS_SHOWN = 5;
const RUNS_SQL = `SELECT run_number AS run, mode, started_at, round(seconds, 1) AS seconds, calls, export_rows, received,
  written, rejected, deduplicated, cursor_to, caught_up FROM runs ORDER BY run_number DESC LIMIT ${RUNS_SHOWN}`;
const CHECKS_SQL = `SELECT name, severity, violations FROM check_results
  WHERE run_id = (SELECT arg_max(run_id, run_number) FROM runs) ORDER BY violations DESC, name`;

interface Rows {
  names: string[];
  rows: DuckDBValue[][];
}

interface TableStatus {
  table: string;
  version: bigint;
  rows: bigint;
  files: number;
  bytes: number;
}

/** Shows the newest published run, the tables, the last runs and the checks of the last run. */
export async function showStatus({ lake: path }: { lake: string }, context: CommandContext): Promise<CommandReport> {
  return readLake({ path, signal: context.signal }, async ({ lake, db }) => {
    const pointer = await readPointer(lake);
    const tables = listTables(pointer);
    const runs = await readRows(db, RUNS_SQL);
    const checks = await readRows(db, CHECKS_SQL);
    const webhooks = await countFiles(lake.root);
    if (!context.json) {
      const width = context.output.columns;
      await context.output.write(`${formatPointer(lake.root, pointer)}${formatTables(tables, width)}`);
      await context.output.write(`\nlast runs\n${formatRows(runs, width)}${formatChecks(checks, width)}`);
      await context.output.write(formatWebhooks(webhooks));
    }
    const { runId, runNumber, cursor, at, pipeline } = pointer ?? {};
    return {
      lake: lake.root,
      published: pointer !== undefined,
      pipeline,
      runId,
      runNumber,
      cursor,
      at,
      tables,
      webhooks,
      runs: toJsonRows(runs),
      checks: toJsonRows(checks),
    };
  });
}

function listTables(pointer: Pointer | undefined): TableStatus[] {
  return Object.entries(pointer?.tables ?? {}).map(([table, state]) => ({
    table,
    version: state.version,
    rows: state.rows,
    files: state.files.length,
    bytes: state.files.reduce((sum, file) => sum + file.bytes, 0),
  }));
}

function formatPointer(root: string, pointer: Pointer | undefined): string {
  if (pointer === undefined) return `${root}: nothing is published yet\n`;
  const { runNumber, runId, at, cursor, pipeline } = pointer;
  return `${root}: run ${runNumber} (${runId}) of ${toPlainLine(pipeline)}, published ${at.toISOString()}, cursor ${cursor}\n`;
}

/** Nothing, where nothing waits and nothing is wrong. */
function formatWebhooks({ waiting, setAside }: Awaited<ReturnType<typeof countFiles>>): string {
  if (waiting === 0 && setAside === 0) return '';
  const unread = setAside === 0 ? '' : ` · unreadable, in _pricelake/webhooks/aside: ${formatCount(setAside)}`;
  return `\nwebhook events for the next sync: ${formatCount(waiting)}${unread}\n`;
}

function formatTables(tables: TableStatus[], width: number | undefined): string {
  if (tables.length === 0) return '';
  const rows = tables.map(({ table, version, rows: count, files, bytes }) => [
    table,
    String(version),
    formatCount(count),
    formatCount(files),
    formatBytes(bytes),
  ]);
  const aligns: Align[] = ['left', 'right', 'right', 'right', 'right'];
  return `\n${layOutTable(['table', 'version', 'rows', 'files', 'size'], rows, aligns, width)}`;
}

/** Checks that found something by name; the others as a count. */
function formatChecks({ names, rows }: Rows, width: number | undefined): string {
  if (rows.length === 0) return '';
  const failed = rows.filter((row) => row[names.indexOf('violations')] !== 0n);
  const summary = `\nchecks of the last run: ${rows.length - failed.length} passed, ${failed.length} found something\n`;
  return failed.length === 0 ? summary : summary + formatRows({ names, rows: failed }, width);
}

function formatRows({ names, rows }: Rows, width: number | undefined): string {
  const cells = rows.map((row) => row.map((value) => (value === null ? '' : toPlainLine(valueToText(value)))));
  const aligns = names.map(
    (_, i): Align => (typeof rows[0]?.[i] === 'bigint' || typeof rows[0]?.[i] === 'number' ? 'right' : 'left'),
  );
  return layOutTable(names, cells, aligns, width);
}

async function readRows(db: Database, sql: string): Promise<Rows> {
  const reader = await db.connection.runAndReadAll(sql);
  return { names: reader.columnNames(), rows: reader.getRows() };
}

function toJsonRows({ names, rows }: Rows): RawJson[] {
  return rows.map((row) => new RawJson(rowToJson(names, row)));
}
