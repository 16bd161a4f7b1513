import { rm } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBMapValue, type DuckDBValue } from '@duckdb/node-api';
import type { CsvFacts } from '../formats/csv.js';
import { isNamedId } from '../formats/row-id.js';
import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { bindModel } from '../sql/model.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { code } from '../sql/sql.js';
import { fitName, type Mapping } from '../tables/item-names.js';
import { CHANGE_ORIGINS, type ChangeOrigin } from '../tables/table.js';
import { separateBadRows } from './bad-row-reader.js';
import { CHANGE_FIELDS, type LandedFile, landedChangesSql, landedItemsSql } from './landed.js';
import { quoteFile } from './observe.js';
import type { Shape } from './shape.js';

/** The result of typing files: a Parquet file with the model's columns, and a file of rows that couldn't be read. */
export interface TypedFile {
  typedPath: string;
  /** NDJSON with {"n", "raw", "reason", "id"} for each row that couldn't be read. `id` is the item's id, if known. */
  badPath?: string | undefined;
  part: string;
  origin: Origin;
  /** The number of rows in both files. The Parquet file includes rows with a reject_reason. */
  rows: number;
  rejected: number;
  /** The paths of the downloaded files that were typed. */
  sources: string[];
}

/**
 * The source of a row. `export` and `page` rows are complete items that were read before the run's changes. `reread`
 * rows are complete items that were read after the changes. Rows of the other origins are changes.
 */
export type Origin = 'export' | 'page' | 'reread' | ChangeOrigin;

export function isChangeOrigin(origin: Origin): origin is ChangeOrigin {
  return (CHANGE_ORIGINS as readonly Origin[]).includes(origin);
}

export interface TypingSource {
  path: string;
  /** The time at which the rows were read, as ISO 8601. It is empty for changes. */
  readAt: string;
  /** The number of downloaded rows. Typing must account for every one of them. */
  rows: number;
  /** True if all rows belong to one website, so that they needn't be sorted by website. */
  isOfOneSite?: boolean | undefined;
  csv?: CsvFacts | undefined;
}

export interface TypingTask {
  origin: Origin;
  sources: TypingSource[];
  shape?: Shape | undefined;
  mapping: Mapping;
  runId: string;
}

/** A source, and the file that DuckDB reads: if numbers must be quoted, this is a copy (observe.ts). */
interface QuotedSource extends TypingSource {
  landed: LandedFile;
}

/** A task whose files DuckDB can read without rounding numbers, and the folder for the results. */
export interface QuotedTask extends TypingTask {
  sources: [QuotedSource, ...QuotedSource[]];
  workFolder: string;
}

/** Quotes numbers that DuckDB would round. If the run is stopped, throws before the next file. */
export async function quoteTask(db: Database, task: TypingTask, workFolder: string): Promise<QuotedTask> {
  const sources: QuotedSource[] = [];
  for (const source of task.sources) {
    db.throwIfStopped();
    const { path: file, readAt, csv } = source;
    const landed = csv === undefined ? await quoteFile(file, readAt, workFolder) : asCsv(file, readAt, csv);
    sources.push({ ...source, landed });
  }
  return { ...task, sources: sources as QuotedTask['sources'], workFolder };
}

/** Describes a CSV file. Its numbers needn't be quoted, because DuckDB reads all cells as text. */
function asCsv(file: string, readAt: string, csv: CsvFacts): LandedFile {
  return { path: file, layout: 'csv', marked: false, part: path.basename(file), readAt, csv };
}

/**
 * Types files together with DuckDB's reader. If this fails for a row, types the files one by one, and reads the file
 * that contains the row in JavaScript, row by row. Deletes temporary files.
 * @throws PricelakeError `contract` if the number of rows differs from the number of downloaded rows
 */
export async function typeFiles(db: Database, task: QuotedTask): Promise<TypedFile[]> {
  const [first, ...restSources] = task.sources;
  const typed = await typeStrictly(db, task);
  if (typed !== undefined) {
    await removeCopies(task.sources);
    return [typed];
  }
  if (restSources.length === 0) {
    const separated = await typeRowByRow(db, task, first);
    await removeCopies(task.sources);
    return [separated];
  }
  const files: TypedFile[] = [];
  for (const source of task.sources) files.push(...(await typeFiles(db, { ...task, sources: [source] })));
  return files;
}

async function removeCopies(sources: readonly QuotedSource[]): Promise<void> {
  for (const { path: source, landed } of sources) if (landed.path !== source) await rm(landed.path);
}

async function typeStrictly(db: Database, task: QuotedTask): Promise<TypedFile | undefined> {
  const { sources, origin } = task;
  const { part } = sources[0].landed;
  const typedPath = path.join(task.workFolder, `${part}.parquet`);
  const rows = sources.reduce((sum, source) => sum + source.rows, 0);
  if (sources.some(({ landed }) => landed.hasTooLarge === true)) return undefined;
  // DuckDB reads CSV columns by position, so all files must have the same header.
  if (new Set(sources.map(({ landed }) => JSON.stringify(landed.csv))).size > 1) return undefined;
  try {
    const counts = await copyTyped(
      db,
      task,
      sources.map(({ landed }) => landed),
      typedPath,
    );
    if (counts.rejected > 0 || counts.rows !== rows) return undefined;
  } catch (error) {
    if (isFaultOfRows(error)) return undefined;
    throw error;
  }
  return { typedPath, part, origin, rows, rejected: 0, sources: sources.map((source) => source.path) };
}

/** True for DuckDB's errors about malformed JSON or CSV, or about a value that doesn't fit in its column. */
export function isFaultOfRows(error: unknown): boolean {
  return error instanceof Error && /^(Invalid Input|Conversion) Error/.test(error.message);
}

async function typeRowByRow(db: Database, task: QuotedTask, source: QuotedSource): Promise<TypedFile> {
  const { part, readAt, csv: facts } = source.landed;
  const place = path.join(task.workFolder, part);
  const [typedPath, goodPath, badPath] = [`${place}.parquet`, `${place}.good`, `${place}.bad`];
  const fields = task.shape?.fields ?? CHANGE_FIELDS;
  const objects = task.shape?.objects ?? new Set<string>();
  const csv = facts === undefined ? {} : { csv: { ...facts, objects } };
  const onRow = () => db.throwIfStopped();
  const separated = await separateBadRows({
    ...{ path: source.path, fields, goodPath, badPath, onRow, ...csv },
    fitId: isChangeOrigin(task.origin) ? isNamedId : (name) => fitName('id', name, task.mapping),
  });
  const counts = await copyTyped(
    db,
    task,
    [{ path: goodPath, layout: 'separated', marked: true, part, readAt }],
    typedPath,
  );
  await rm(goodPath);
  const rows = counts.rows + separated.bad;
  if (rows !== source.rows) {
    throw new PricelakeError(
      'contract',
      `${part}: ${source.rows} rows landed, but pricelake could read only ${rows} of them as separate lines`,
      { hint: "Nothing was published. The raw bytes are still in the run's landing folder." },
    );
  }
  const bad = separated.bad > 0 ? { badPath } : {};
  const rejected = counts.rejected + separated.bad;
  return { typedPath, part, origin: task.origin, rows, rejected, sources: [source.path], ...bad };
}

/** Typed files are sorted by website. Small row groups let staging read only the range of websites that it needs. */
const ROW_GROUP_ROWS = 8_192;

async function copyTyped(
  db: Database,
  task: QuotedTask,
  landed: readonly LandedFile[],
  typedPath: string,
): Promise<{ rows: number; rejected: number }> {
  const [first, ...restFiles] = landed as [LandedFile, ...LandedFile[]];
  const { origin, runId: run_id } = task;
  const rows = isChangeOrigin(origin)
    ? bindModel('history', { landed_changes: code(landedChangesSql(first)) }, { origin, run_id })
    : bindModel(
        'items',
        { landed_items: code(landedItemsSql([first, ...restFiles], task.shape as Shape)) },
        { run_id },
      );
  const isSorted = isChangeOrigin(origin) || task.sources.every(({ isOfOneSite }) => isOfOneSite === true);
  const order = isSorted ? '' : ' ORDER BY site_id';
  const [written] = await db.rows(`COPY (${rows.text}${order}) TO ${quoteLiteral(typedPath)}
    (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}, RETURN_STATS true)`);
  const count = Number(written?.count ?? 0);
  return { rows: count, rejected: count - countNulls(written?.column_statistics, 'reject_reason', count) };
}

/** Returns a column's number of nulls from the statistics that COPY returns. Without rows, there are no statistics. */
function countNulls(statistics: DuckDBValue | undefined, column: string, rows: number): number {
  if (rows === 0 || !(statistics instanceof DuckDBMapValue)) return rows;
  const own = statistics.entries.find(({ key }) => key === quoteIdentifier(column))?.value;
  const nulls = own instanceof DuckDBMapValue ? own.entries.find(({ key }) => key === 'null_count')?.value : undefined;
  if (nulls === undefined) throw new Error(`COPY returned no statistics for ${column}`);
  return Number(nulls);
}
