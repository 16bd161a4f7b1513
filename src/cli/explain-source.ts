import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import type { TableName } from '../tables/table.js';
import type { OpenedLake } from './read-lake.js';

/** Everything that a result depends on. The same versions, settings, files and SQL return the same rows. */
export interface QuerySource {
  pricelake: string;
  duckdb: string;
  /** The number of the newest run in the tables; null if no run wrote them. */
  run: bigint | null;
  /** The version of each table that the SQL uses. */
  versions: Record<string, bigint>;
  settings: Record<string, string>;
  /** SHA-256 hashes of the user's own files, keyed by the option that names each file. */
  files: Record<string, string>;
  sql: string;
}

interface Query {
  sql: string;
  tables: readonly TableName[];
  settings: Record<string, string>;
  /** File paths, keyed by the option that names each file. */
  files: Readonly<Record<string, string | undefined>>;
}

export async function readSource(
  { db, readState }: Pick<OpenedLake, 'db' | 'readState'>,
  { sql, tables, settings, files }: Query,
): Promise<QuerySource> {
  const states = await Promise.all(tables.map(readState));
  const { applied } = await readState('runs');
  const version = await db.row('SELECT version() AS version');
  const hashed = Object.entries(files).map(async ([name, path]) =>
    path === undefined
      ? []
      : [
          [
            name,
            createHash('sha256')
              .update(await readFile(path))
              .digest('hex'),
          ],
        ],
  );
  return {
    pricelake: PRICELAKE_VERSION,
    duckdb: String(version?.version),
    run: applied.run ?? null,
    versions: Object.fromEntries(states.map((state) => [state.table, state.version])),
    settings,
    files: Object.fromEntries((await Promise.all(hashed)).flat()),
    sql,
  };
}
