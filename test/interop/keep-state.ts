import { appendFile, cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

export interface StateFacts {
  /** What the lake has gone through. */
  title: string;
  /** False where plain reads don't give the table: superseded files, files older than a column, or in folders. */
  plain: boolean;
  /** True where tables without rows are the point. */
  hasEmpty?: boolean;
}

/** Without spaces: Polars does not find the files of a Delta table in such a path. */
export const stateFolder = (folder: string, state: string) => join(folder, state.replaceAll(/[ ,]+/g, '-'));

/** The lake as it stands, and every row of its tables, by our own views, in files of their own. */
export async function keepState(folder: string, state: string, lakePath: string, facts: StateFacts): Promise<void> {
  await cp(lakePath, join(stateFolder(folder, state), 'lake'), { recursive: true });
  await mkdir(join(stateFolder(folder, state), 'expected'), { recursive: true });
  await withDatabase(async (db) => {
    await createTableViews(db, await openLake(lakePath, { create: false }));
    for (const table of TABLE_NAMES) {
      const row = await db.row(`SELECT count(*) AS n FROM ${table}`);
      if (row?.n === 0n && facts.hasEmpty !== true && table !== 'stale_items')
        throw new Error(`${state}: ${table} has no rows, and would prove nothing`);
      const path = join(stateFolder(folder, state), 'expected', `${table}.parquet`);
      await db.run(`COPY ${table} TO ${quoteLiteral(path)} (FORMAT parquet)`);
    }
  });
  await noteState(folder, state, facts);
}

/** The lake as it stands; its rows must be those of another state. */
export async function copyState(
  folder: string,
  of: string,
  state: string,
  lakePath: string,
  facts: StateFacts,
): Promise<void> {
  await cp(lakePath, join(stateFolder(folder, state), 'lake'), { recursive: true });
  await cp(join(stateFolder(folder, of), 'expected'), join(stateFolder(folder, state), 'expected'), {
    recursive: true,
  });
  await noteState(folder, state, facts);
}

function noteState(folder: string, state: string, facts: StateFacts): Promise<void> {
  return appendFile(join(folder, 'states.ndjson'), `${JSON.stringify({ state, ...facts })}\n`);
}

export async function withDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const db = await Database.open({ threads: 2 });
  try {
    await work(db);
  } finally {
    await db.close();
  }
}
