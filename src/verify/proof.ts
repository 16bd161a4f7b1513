import type { Io } from '../io/io.js';
import type { Lake } from '../lake/lake.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import type { ReplayedTable } from './replayed-table.js';

export interface Finding {
  table?: TableName;
  /** Relative to the lake. */
  file?: string;
  what: string;
}

export type Report = (finding: Finding) => void;

export interface VerifyContext {
  lake: Lake;
  /** An empty database. */
  db: Database;
  /** Tables as their replayed logs describe them; a table with a damaged log is absent. */
  tables: Map<TableName, ReplayedTable>;
  logFindings: Finding[];
  /** Row groups to read at most; undefined reads all. */
  sample: number | undefined;
  signal: AbortSignal;
  io: Io;
}

export interface Proof {
  name: string;
  /** A sentence that is true of every sound lake. */
  claims: string;
  /** Advice after a failure; default: make the tables again. */
  next?: string;
  /** Reports findings; returns the number and kind of things it looked at. */
  prove(context: VerifyContext, report: Report): Promise<Looked>;
}

export interface Looked {
  count: bigint;
  /** Plural noun: `files`. */
  of: string;
  /** Facts that are worth knowing and no findings. */
  notes?: string[];
}

interface Applied {
  cursor: bigint | undefined;
  /** The newest change of history that is ahead of the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** The version of items that a derived table is made from. */
  itemsVersion: bigint | undefined;
  /** Hash of the query that made a derived table. */
  query: bigint | undefined;
}

/** Decodes Delta's `txn` apart from the writer (src/lake/table-state.ts), so that a fault there can't hide here. */
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
 * Makes views over exactly the files that the replayed logs name. Throws DuckDB's error for a file that it can't open.
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
