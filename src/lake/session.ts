import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { chooseMemoryLimits } from '../io/machine.js';
import { makeTemporaryFolder, removeBusyFolder } from '../io/temporary-folder.js';
import { Database } from '../sql/connection.js';
import { createMacros } from '../sql/model.js';

interface SessionOptions {
  hasModels?: boolean;
  /** The number of statements that can run at the same time; defaults to 1. */
  sessions?: number;
  /** The folder of the session, which is emptied first; defaults to a new temporary folder. */
  workFolder?: string;
  /**
   * DuckDB's memory limit, in bytes or in DuckDB's notation. If undefined, the limit starts low, and rises to a third
   * of the RAM if a statement needs more. `default` means DuckDB's own limit, which is 80 % of the RAM.
   */
  memoryLimit?: number | string | 'default' | undefined;
  signal?: AbortSignal | undefined;
}

export interface Session {
  db: Database;
  workFolder: string;
  close(): Promise<void>;
}

/** Opens a database for work on a lake. If opening fails, removes the session's folder. */
export async function openSession(options: SessionOptions = {}): Promise<Session> {
  const { hasModels, sessions = 1, signal, memoryLimit } = options;
  const workFolder = await makeWorkFolder(options.workFolder);
  const own = memoryLimit === undefined ? chooseMemoryLimits() : { memoryLimit };
  const limit = memoryLimit === 'default' ? {} : own;
  const stop = signal === undefined ? {} : { signal };
  let db: Database | undefined;
  const close = async () => {
    await db?.close();
    await removeBusyFolder(workFolder);
  };
  try {
    db = await Database.open({ sessions, tempDirectory: path.join(workFolder, 'spill'), ...limit, ...stop });
    if (hasModels === true) await createMacros(db);
    return { db, workFolder, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function makeWorkFolder(folder: string | undefined): Promise<string> {
  if (folder === undefined) return makeTemporaryFolder();
  await removeBusyFolder(folder);
  await mkdir(folder, { recursive: true });
  return folder;
}
