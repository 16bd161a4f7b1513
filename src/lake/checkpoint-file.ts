import { PricelakeError } from '../io/errors.js';
import { Database } from '../sql/connection.js';
import { escapeGlob, quoteLiteral } from '../sql/quote.js';
import { MAX_LOG_BYTES } from '../tables/layout.js';

/** The maximum number of rows to read from a checkpoint. Every real table has far fewer files. */
const MAX_ROWS = 2_000_000;

/** The columns of a checkpoint: one nullable struct for each kind of action (Delta protocol, Checkpoint Schema). */
const CHECKPOINT_COLUMNS = {
  txn: 'STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)',
  add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags MAP(VARCHAR, VARCHAR))',
  remove: 'STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN)',
  metaData:
    'STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, partitionColumns VARCHAR[], createdTime BIGINT, configuration MAP(VARCHAR, VARCHAR))',
  protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)',
};

/** Returns each row of a checkpoint as JSON. Unlike a line of a commit, it has a null for each other kind of action. */
export async function readCheckpoint(path: string): Promise<string[]> {
  const lines = `SELECT to_json(action)::VARCHAR AS line FROM read_parquet(${quoteLiteral(escapeGlob(path))}) AS action`;
  return withDatabase(async (db) => {
    // Checks the number and size of the lines first, because a small Parquet file can contain millions of long strings.
    const found = await db.row(`SELECT count(*) AS n, sum(length(line)) AS size FROM (${lines} LIMIT ${MAX_ROWS})`);
    if (Number(found?.n) >= MAX_ROWS || Number(found?.size) > MAX_LOG_BYTES)
      throw new PricelakeError('lake_invalid', `it has more than ${MAX_ROWS} rows or ${MAX_LOG_BYTES} characters`);
    return (await db.rows(lines)).map((row) => String(row.line));
  });
}

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

/** One database reads and writes all checkpoints, because opening a database takes longer than reading a checkpoint. */
let database: Promise<Database> | undefined;

async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  database ??= Database.open({ threads: 1, memoryLimit: '512MB' }).catch((error: unknown) => {
    database = undefined;
    throw error;
  });
  return work(await database);
}
