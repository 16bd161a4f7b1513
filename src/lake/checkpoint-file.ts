import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Database } from '../duckdb/connection.js';
import { escapeGlob, quoteLiteral } from '../duckdb/quote.js';
import { PricelakeError } from '../errors/errors.js';
import { MAX_LOG_BYTES } from './layout.js';

/** Far more than the files that a table can have. */
const MAX_ROWS = 2_000_000;

/** Columns of a checkpoint (protocol, "Checkpoint Schema"), one nullable struct an action. */
const CHECKPOINT_COLUMNS = {
  txn: 'STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)',
  add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags MAP(VARCHAR, VARCHAR))',
  remove: 'STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN)',
  metaData:
    'STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, partitionColumns VARCHAR[], createdTime BIGINT, configuration MAP(VARCHAR, VARCHAR))',
  protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)',
};

/**
 * The rows of a checkpoint as JSON lines, each like a line of a commit (with nulls for the other actions).
 * @param keptPath where `keepLines` may have left them. Reading that takes a millisecond; DuckDB must be opened to read a
 * checkpoint.
 */
export async function readCheckpoint(path: string, keptPath?: string): Promise<string[]> {
  const kept = keptPath === undefined ? undefined : await readKept(path, keptPath);
  return kept ?? readRows(path);
}

/**
 * Writes the lines of a checkpoint to `temporary`, and renames that to `keptPath`. They begin with the checksums of both:
 * once another checkpoint is there, or the lines are damaged, they are not used. If they can't be written, there are none.
 */
export async function keepLines(
  path: string,
  lines: readonly string[],
  temporary: string,
  keptPath: string,
): Promise<void> {
  const text = lines.join('\n');
  try {
    await mkdir(dirname(keptPath), { recursive: true });
    await writeFile(temporary, `${await hashBoth(path, text)}\n${text}`);
    await rename(temporary, keptPath);
  } catch {
    await rm(temporary, { force: true });
  }
}

/** Undefined for lines of another checkpoint, or if they are missing or damaged. */
async function readKept(path: string, keptPath: string): Promise<string[] | undefined> {
  const kept = await readFile(keptPath, 'utf8').catch(() => '');
  const end = kept.indexOf('\n');
  if (end < 0) return undefined;
  const text = kept.slice(end + 1);
  const hashes = await hashBoth(path, text).catch(() => undefined);
  return kept.slice(0, end) === hashes ? text.split('\n') : undefined;
}

/** SHA-256 of the checkpoint and of its lines. */
async function hashBoth(path: string, text: string): Promise<string> {
  const hash = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
  return `${hash(await readFile(path))} ${hash(text)}`;
}

async function readRows(path: string): Promise<string[]> {
  const lines = `SELECT to_json(action)::VARCHAR AS line FROM read_parquet(${quoteLiteral(escapeGlob(path))}) AS action`;
  return withDatabase(async (db) => {
    // A small file can hold any number of rows, and a text that all of them share.
    const found = await db.row(`SELECT count(*) AS n, sum(length(line)) AS size FROM (${lines} LIMIT ${MAX_ROWS})`);
    if (Number(found?.n) >= MAX_ROWS || Number(found?.size) > MAX_LOG_BYTES)
      throw new PricelakeError('lake_invalid', `it has more than ${MAX_ROWS} rows or ${MAX_LOG_BYTES} characters`);
    return (await db.rows(lines)).map((row) => String(row.line));
  });
}

/** Turns a file of JSON lines into a checkpoint file. */
export async function convertToCheckpoint(linesPath: string, checkpointPath: string): Promise<void> {
  const columns = Object.entries(CHECKPOINT_COLUMNS).map(
    ([name, type]) => `${quoteLiteral(name)}: ${quoteLiteral(type)}`,
  );
  await withDatabase((db) =>
    db.run(
      `COPY (FROM read_json(${quoteLiteral(escapeGlob(linesPath))}, format = 'newline_delimited', maximum_object_size = 67108864,
         columns = {${columns.join(', ')}}))
       TO ${quoteLiteral(checkpointPath)} (FORMAT parquet, COMPRESSION snappy)`,
    ),
  );
}

/** One for the whole process: opening and closing it takes longer than a checkpoint. */
let database: Promise<Database> | undefined;

async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  database ??= Database.open({ threads: 1, memoryLimit: '512MB' }).catch((error: unknown) => {
    database = undefined;
    throw error;
  });
  return work(await database);
}
