import { join } from 'node:path';
import { type ReadState, readStates } from '../deliver/past-tables.js';
import { nameDamage } from '../lake/damage.js';
import { explainFileFault, isLostFile } from '../lake/file-fault.js';
import { openLake } from '../lake/lake.js';
import { openSession } from '../lake/session.js';
import { createTableViews } from '../lake/views.js';
import type { Database } from '../sql/connection.js';
import type { Lake } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import type { CachedLake } from '../wings/remote/index.js';
import type { RemoteSource } from './join-lakes.js';
import type { Output } from './output/output.js';

export interface ReadOptions {
  path: string;
  /** The object storage from which the lake is read. If it is set, `path` isn't used. */
  remote?: RemoteSource | undefined;
  /** Returns the tables whose files the action needs. Defaults to all tables. */
  tables?: (db: Database) => readonly TableName[];
  /** Shows the tables as they were after the run with this number. */
  asOf?: bigint | undefined;
  /** Aborting this signal interrupts the running SQL statement. */
  signal: AbortSignal;
  /** DuckDB's memory limit, such as `2GB`. */
  memory?: string;
  /**
   * The output that the action writes to. If another process deletes files while the action reads them, the action is
   * run again, unless it has already written to this output. If this is omitted, the action is never run again.
   */
  output?: Output;
}

/** The maximum number of times that an action is run while another process keeps deleting files that it reads. */
const TRIES = 3;

/** A lake with views of its published tables. */
export interface OpenedLake {
  lake: Lake;
  db: Database;
  /** Reads the states of the tables behind the views. */
  readState: ReadState;
  /** A path where the command may create a temporary file. */
  scratch: string;
  /** The object storage that the lake was downloaded from. */
  remote?: Pick<CachedLake, 'url' | 'holder'>;
}

/** Opens a lake for reading and runs the action on it. @throws PricelakeError `lake_invalid` if there is no lake */
export async function readLake<T>(options: ReadOptions, action: (opened: OpenedLake) => Promise<T>): Promise<T> {
  if (options.remote === undefined) return readOpened(await openLake(options.path, { create: false }), options, action);
  const { address, cache, io } = options.remote;
  const { readRemote } = await import('../wings/remote/index.js');
  return readRemote(address, cache, io, (cached) => readOpened(cached.lake, options, action, cached));
}

async function readOpened<T>(
  lake: Lake,
  options: ReadOptions,
  action: (opened: OpenedLake) => Promise<T>,
  remote?: CachedLake,
): Promise<T> {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await readOnce(lake, options, action, remote);
    } catch (error) {
      const canRestart = options.output?.hasBegun === false && !options.signal.aborted;
      if (left > 0 && canRestart && isLostFile(error)) continue;
      throw nameDamage(lake.root, explainFileFault(error));
    }
  }
}

async function readOnce<T>(
  lake: Lake,
  { memory = 'default', signal, asOf, tables: choose }: ReadOptions,
  action: (opened: OpenedLake) => Promise<T>,
  remote?: CachedLake,
): Promise<T> {
  const session = await openSession({ signal, memoryLimit: memory });
  const { db, workFolder } = session;
  try {
    const tables = choose?.(db) ?? TABLE_NAMES;
    await remote?.bring(tables);
    const readState = readStates(lake, asOf);
    await createTableViews(db, lake, tables, readState);
    const scratch = join(workFolder, 'result.parquet');
    const result = await action({ lake, db, readState, scratch, ...(remote === undefined ? {} : { remote }) });
    // The last statement may have finished just before the signal arrived, but the command must still report that it
    // was stopped.
    signal.throwIfAborted();
    return result;
  } finally {
    await session.close();
  }
}

/** Reads the attribution texts of the lake's open-data websites, which must accompany any copy of their data. */
export async function readCredits(db: Database): Promise<string[]> {
  const rows = await db.rows(
    'SELECT DISTINCT attribution FROM sites WHERE is_current AND attribution IS NOT NULL ORDER BY 1',
  );
  return rows.map(({ attribution }) => String(attribution));
}
