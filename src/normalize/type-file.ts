import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { PricelakeError } from '../errors.js';
import { CHANGE_FIELDS, type LandedFile, landedChangesSql, landedItemsSql } from './landed.js';
import { readModel } from './model-sql.js';
import type { Shape } from './shape.js';
import { sieveRows } from './sieve.js';

/** A landed file typed: Parquet with the model's columns, and the rows that could not even be read. */
export interface TypedFile {
  typedPath: string;
  /** NDJSON of {"n", "raw", "reason"}, where there are any. */
  badPath?: string;
  part: string;
  origin: Origin;
  /** Rows of typedPath, those with a reject_reason included, plus rows of badPath. */
  rows: number;
}

/**
 * Where landed rows come from: whole rows of an export or a page, read before the run's changes; rereads, items read
 * whole after them; and the changes themselves, of the feed or of webhooks.
 */
export type Origin = 'export' | 'page' | 'reread' | ChangeOrigin;
export type ChangeOrigin = 'feed' | 'webhook';

export interface TypingTask {
  origin: Origin;
  /** The landed file as it came; the sieve reads it. */
  sourcePath: string;
  /** The same with its long numbers quoted (quote-file.ts). */
  landed: LandedFile;
  /** Needed for items. */
  shape?: Shape;
  /** Rows that landed: a typed file with another number is refused. */
  rows: number;
  /** When it was read, ISO 8601. */
  readAt: string;
  runId: string;
  workFolder: string;
}

/**
 * Types one landed file: the strict bulk way, and only if a row does not fit it, row by row with places and reasons.
 * Throws `contract` when the rows do not add up.
 */
export async function typeFile(db: Database, task: TypingTask): Promise<TypedFile> {
  const { part } = task.landed;
  const { origin } = task;
  const typedPath = path.join(task.workFolder, `${part}.parquet`);
  await db.run('SET VARIABLE read_at = $1', [task.readAt]);
  await db.run('SET VARIABLE run_id = $1', [task.runId]);
  await db.run('SET VARIABLE origin = $1', [origin]);
  if (await typeStrictly(db, task, typedPath)) return { typedPath, part, origin, rows: task.rows };
  return typeSieved(db, task, part, typedPath);
}

async function typeStrictly(db: Database, task: TypingTask, typedPath: string): Promise<boolean> {
  try {
    const counts = await copyTyped(db, task, task.landed, typedPath);
    return counts.rejected === 0 && counts.rows === task.rows;
  } catch (error) {
    // Malformed JSON, or a value of a kind that no column takes; anything else is no fault of the data.
    if (error instanceof Error && /^(Invalid Input|Conversion) Error/.test(error.message)) return false;
    throw error;
  }
}

async function typeSieved(db: Database, task: TypingTask, part: string, typedPath: string): Promise<TypedFile> {
  const goodPath = path.join(task.workFolder, `${part}.good`);
  const badPath = path.join(task.workFolder, `${part}.bad`);
  const sieved = await sieveRows({
    path: task.sourcePath,
    fields: task.shape?.fields ?? CHANGE_FIELDS,
    goodPath,
    badPath,
  });
  const landed: LandedFile = { path: goodPath, layout: 'sieved', marked: true, part };
  const counts = await copyTyped(db, task, landed, typedPath);
  const rows = counts.rows + sieved.bad;
  if (rows !== task.rows) {
    throw new PricelakeError('contract', `${part}: ${task.rows} rows landed, but ${rows} could be told apart`, {
      hint: 'nothing was published; the raw bytes are kept in the landing',
    });
  }
  return { typedPath, part, origin: task.origin, rows, ...(sieved.bad > 0 ? { badPath } : {}) };
}

/** Small row groups in the order of the table's partitions: staging reads the typed files slice by slice. */
const ROW_GROUP_ROWS = 20_480;
const orderedItems = () => `SELECT * FROM (${readModel('items')}) ORDER BY site_id`;

async function copyTyped(
  db: Database,
  task: TypingTask,
  landed: LandedFile,
  typedPath: string,
): Promise<{ rows: number; rejected: number }> {
  const isChanges = task.origin === 'feed' || task.origin === 'webhook';
  const view = isChanges
    ? `CREATE OR REPLACE TEMP VIEW landed_changes AS ${landedChangesSql(landed)}`
    : `CREATE OR REPLACE TEMP VIEW landed_items AS ${landedItemsSql(landed, task.shape as Shape)}`;
  await db.run(view);
  const target = quoteLiteral(typedPath);
  await db.run(`COPY (${isChanges ? readModel('history') : orderedItems()}) TO ${target}
    (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`);
  const counts = await db.row(
    `SELECT count(*) AS row_count, count(reject_reason) AS rejected FROM read_parquet(${target})`,
  );
  return { rows: Number(counts?.row_count), rejected: Number(counts?.rejected) };
}
