import type { Io } from '../io/io.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import type { ReplayedTable } from './replayed-table.js';

export interface Finding {
  table?: TableName;
  /** The path in the lake. */
  file?: string;
  what: string;
}

export type Report = (finding: Finding) => void;

export interface VerifyContext {
  lake: Lake;
  /** An empty database. */
  db: Database;
  /** The tables as their replayed logs describe them. A table with a damaged log is missing. */
  tables: Map<TableName, ReplayedTable>;
  logFindings: Finding[];
  /** The maximum number of row groups to read; undefined reads all. */
  sample: number | undefined;
  signal: AbortSignal;
  io: Io;
}

export interface Proof {
  name: string;
  /** A sentence that holds for every sound lake. */
  claims: string;
  /** Advice after a failure; by default, to rebuild the tables. */
  next?: string;
  /** Reports findings. Returns what it checked, and how many. */
  prove(context: VerifyContext, report: Report): Promise<Looked>;
}

export interface Looked {
  count: bigint;
  /** A plural noun such as `files`. */
  of: string;
  /** Facts that are worth knowing but are not faults. */
  notes?: string[];
}

interface Applied {
  cursor: bigint | undefined;
  /** The newest change in history that is beyond the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** The version of items that a derived table was made from. */
  itemsVersion: bigint | undefined;
  /** The hash of the query that made a derived table. */
  query: bigint | undefined;
}

/**
 * Decodes Delta's `txn` independently of the writer (src/lake/table-state.ts), so that a fault there can't hide here.
 */
export function readApplied(table: { txn: ReadonlyMap<string, bigint> } | undefined): Applied {
  const read = (appId: string) => table?.txn.get(appId);
  return {
    cursor: read('pricelake.cursor'),
    ahead: read('pricelake.webhook'),
    run: read('pricelake.run'),
    accepted: read('pricelake.accepted'),
    itemsVersion: read('pricelake.items'),
    query: read('pricelake.query'),
  };
}

/**
 * Creates views over exactly the files that the replayed logs name. Throws DuckDB's error for a file that can't be
 * opened.
 */
export async function createReplayedViews(context: VerifyContext, tables: readonly TableName[]): Promise<void> {
  for (const table of tables) {
    const files = [...(context.tables.get(table)?.files.values() ?? [])];
    const sources = files.map((file) => toRelationFile(file, tablePath(context.lake, table, file.path)));
    await context.db.run(
      `CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${tableRelation(table, sources)}`,
    );
  }
}
