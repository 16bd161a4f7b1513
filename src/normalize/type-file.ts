import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { PricelakeError } from '../errors.js';
import { CHANGE_FIELDS, type LandedFile, landedChangesSql, landedItemsSql } from './landed.js';
import { findLongNumbers, NUMBER_MARK, quoteNumbers } from './long-numbers.js';
import { readModel } from './model-sql.js';
import type { Shape } from './shape.js';
import { sieveRows } from './sieve.js';

/** A landed file typed: Parquet with the model's columns, and the rows that could not even be read. */
export interface TypedFile {
  typedPath: string;
  /** NDJSON of {"n", "raw", "reason"}, where there are any. */
  badPath?: string;
  part: string;
  /** Rows of typedPath, those with a reject_reason included, plus rows of badPath. */
  rows: number;
}

export interface TypingTask {
  kind: 'items' | 'changes';
  landed: { path: string; layout: 'lines' | 'pages'; maxLineBytes: number };
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
  const part = path.basename(task.landed.path);
  const typedPath = path.join(task.workFolder, `${part}.parquet`);
  await db.run('SET VARIABLE read_at = $1', [task.readAt]);
  await db.run('SET VARIABLE run_id = $1', [task.runId]);
  const landed = await quoteLongNumbers(task, part);
  if (await typeStrictly(db, task, landed, typedPath)) return { typedPath, part, rows: task.rows };
  return typeSieved(db, task, part, typedPath);
}

async function typeStrictly(db: Database, task: TypingTask, landed: LandedFile, typedPath: string): Promise<boolean> {
  try {
    const counts = await copyTyped(db, task, landed, typedPath);
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
  const list = task.kind === 'items' ? 'content' : 'changes';
  const sieved = await sieveRows({
    path: task.landed.path,
    ...(task.landed.layout === 'pages' ? { list } : {}),
    fields: task.shape?.fields ?? CHANGE_FIELDS,
    goodPath,
    badPath,
  });
  const landed: LandedFile = { path: goodPath, layout: 'sieved', marked: true, part, maxLineBytes: 0 };
  const counts = await copyTyped(db, task, landed, typedPath);
  const rows = counts.rows + sieved.bad;
  if (rows !== task.rows) {
    throw new PricelakeError('contract', `${part}: ${task.rows} rows landed, but ${rows} could be told apart`, {
      hint: 'nothing was published; the raw bytes are kept in the landing',
    });
  }
  return { typedPath, part, rows, ...(sieved.bad > 0 ? { badPath } : {}) };
}

async function copyTyped(
  db: Database,
  task: TypingTask,
  landed: LandedFile,
  typedPath: string,
): Promise<{ rows: number; rejected: number }> {
  const view =
    task.kind === 'items'
      ? `CREATE OR REPLACE TEMP VIEW landed_items AS ${landedItemsSql(landed, task.shape as Shape)}`
      : `CREATE OR REPLACE TEMP VIEW landed_changes AS ${landedChangesSql(landed)}`;
  await db.run(view);
  const target = quoteLiteral(typedPath);
  await db.run(`COPY (${readModel(task.kind === 'items' ? 'items' : 'history')}) TO ${target}
    (FORMAT parquet, COMPRESSION snappy)`);
  const counts = await db.row(
    `SELECT count(*) AS row_count, count(reject_reason) AS rejected FROM read_parquet(${target})`,
  );
  return { rows: Number(counts?.row_count), rejected: Number(counts?.rejected) };
}

/** The file itself, or where it holds numbers that DuckDB would round, a copy with these quoted. */
async function quoteLongNumbers(task: TypingTask, part: string): Promise<LandedFile> {
  const { path: source, layout, maxLineBytes } = task.landed;
  const target = path.join(task.workFolder, `${part}.quoted`);
  let out: Awaited<ReturnType<typeof open>> | undefined;
  let copied = 0;
  try {
    for await (const lines of readWholeLines(source)) {
      const tokens = findLongNumbers(lines);
      if (tokens.length > 0 && out === undefined) {
        out = await open(target, 'w');
        if (copied > 0) {
          for await (const before of createReadStream(source, { end: copied - 1 }))
            await out.writeFile(before as Buffer);
        }
      }
      if (out !== undefined) await out.writeFile(quoteNumbers(lines, tokens, NUMBER_MARK));
      copied += lines.length;
    }
  } finally {
    await out?.close();
  }
  const marked = out !== undefined;
  // Each token grows by the mark and two quotes: at most by half of its length.
  return {
    path: marked ? target : source,
    layout,
    marked,
    part,
    maxLineBytes: marked ? maxLineBytes * 2 : maxLineBytes,
  };
}

async function* readWholeLines(source: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(source, { highWaterMark: 4 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const cut = bytes.lastIndexOf(0x0a) + 1;
    if (cut > 0) yield bytes.subarray(0, cut);
    rest = bytes.subarray(cut);
  }
  if (rest.length > 0) yield rest;
}
