import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Database } from '../duckdb/connection.js';
import { escapeGlob, quoteLiteral } from '../duckdb/quote.js';

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
 * @param copy where `keepLines` may have left them: a process that reads no checkpoint itself need not open a database
 */
export async function readCheckpoint(path: string, copy?: string): Promise<string[]> {
  const kept = copy === undefined ? undefined : await readKept(path, copy);
  return kept ?? readRows(path);
}

/**
 * Writes the lines of a checkpoint to `temporary`, and renames that to `copy`: it counts for this very checkpoint alone.
 * Where that fails, there are none.
 */
export async function keepLines(
  path: string,
  lines: readonly string[],
  temporary: string,
  copy: string,
): Promise<void> {
  const text = lines.join('\n');
  try {
    await mkdir(dirname(copy), { recursive: true });
    await writeFile(temporary, `${await hashBoth(path, text)}\n${text}`);
    await rename(temporary, copy);
  } catch {
    await rm(temporary, { force: true });
  }
}

/** Undefined for a copy of another checkpoint, or one that is missing or damaged. */
async function readKept(path: string, copy: string): Promise<string[] | undefined> {
  const kept = await readFile(copy, 'utf8').catch(() => '');
  const [hashes, ...lines] = kept.split('\n');
  if (lines.length === 0) return undefined;
  const wanted = await hashBoth(path, kept.slice(kept.indexOf('\n') + 1)).catch(() => undefined);
  return hashes === wanted ? lines : undefined;
}

async function hashBoth(path: string, text: string): Promise<string> {
  const hash = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
  return `${hash(await readFile(path))} ${hash(text)}`;
}

async function readRows(path: string): Promise<string[]> {
  return withDatabase(async (db) => {
    const rows = await db.rows(
      `SELECT to_json(action)::VARCHAR AS line FROM read_parquet(${quoteLiteral(escapeGlob(path))}) AS action`,
    );
    return rows.map((row) => String(row.line));
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
