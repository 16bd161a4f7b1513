import { join } from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { type Lake, openLake } from '../lake/lake.js';
import { openSession } from '../lake/session.js';

export interface ReadOptions {
  /** Folder of the lake. */
  path: string;
  /** Interrupts the statement that runs. */
  signal: AbortSignal;
  /** DuckDB's memory limit, e.g. `2GB`. */
  memory?: string;
}

/** What reading commands work with: the lake and views of its published tables. */
export interface OpenedLake {
  lake: Lake;
  db: Database;
  /** A path where a file may stand for the time of the command. */
  scratch: string;
}

/**
 * Opens a lake for reading, runs `action`, and cleans up; a signal interrupts the statement that runs.
 * @throws PricelakeError `lake_invalid` when there is no lake.
 */
export async function readLake<T>(options: ReadOptions, action: (opened: OpenedLake) => Promise<T>): Promise<T> {
  const lake = await openLake(options.path, { create: false });
  const { memory = 'default', signal } = options;
  const session = await openSession({ lake, signal, memoryLimit: memory });
  const { db, workFolder } = session;
  try {
    const result = await action({ lake, db, scratch: join(workFolder, 'result.parquet') });
    // A statement that ended just before the signal came did its work, but the command was stopped.
    options.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw explainLostFile(error);
  } finally {
    await session.close();
  }
}

/** A run that commits while we read deletes the files it replaced (unless lake.retention keeps them). */
function explainLostFile(error: unknown): unknown {
  const lost =
    error instanceof Error && /^IO Error: .*(No files found|Cannot open file|No such file)/su.test(error.message);
  if (!lost) return error;
  return new PricelakeError(
    'unavailable',
    'a run replaced files of the lake while they were read',
    {
      hint: 'Run the command again.',
    },
    { cause: error },
  );
}

/** Licence and credit texts of the lake's open-data sites, which must be passed on with their data. */
export async function readCredits(db: Database): Promise<string[]> {
  const rows = await db.rows(
    'SELECT DISTINCT attribution FROM sites WHERE is_current AND attribution IS NOT NULL ORDER BY 1',
  );
  return rows.map(({ attribution }) => String(attribution));
}
