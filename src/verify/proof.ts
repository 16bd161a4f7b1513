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
  /** An empty database to run queries in. */
  db: Database;
  /** The tables as replayed from their logs, without those whose log is damaged. */
  tables: Map<TableName, ReplayedTable>;
  logFindings: Finding[];
  /** The maximum number of row groups to read; undefined for all. */
  sample: number | undefined;
  signal: AbortSignal;
  io: Io;
}

export interface Proof {
  name: string;
  /** A sentence that is true for each intact lake. */
  claims: string;
  /** Advice after a failure. By default, to rebuild the tables. */
  next?: string;
  /** Reports findings, and returns the kind and number of things that it checked. */
  prove(context: VerifyContext, report: Report): Promise<Looked>;
}

export interface Looked {
  count: bigint;
  /** A plural noun such as `files`. */
  of: string;
  /** Facts to show that aren't faults. */
  notes?: string[];
}

interface Applied {
  cursor: bigint | undefined;
  /** The id of the newest change in history that is after the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** The version of items that a derived table was computed from. */
  itemsVersion: bigint | undefined;
  /** The hash of the query that computed a derived table. */
  query: bigint | undefined;
}

/**
 * Decodes Delta's `txn` actions independently of the writer (src/lake/table-state.ts), so that its bugs can't hide
 * here.
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

/** Creates views over exactly the files in the replayed logs. @throws Error from DuckDB if a file can't be opened */
export async function createReplayedViews(context: VerifyContext, tables: readonly TableName[]): Promise<void> {
  for (const table of tables) {
    const files = [...(context.tables.get(table)?.files.values() ?? [])];
    const sources = files.map((file) => toRelationFile(file, tablePath(context.lake, table, file.path)));
    await context.db.run(
      `CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${tableRelation(table, sources)}`,
    );
  }
}
