import type { Io } from '../io/io.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import type { ReplayedTable } from './replayed-table.js';

export interface Finding {
  table?: TableName;
  /** The path of the file within the lake. */
  file?: string;
  what: string;
}

export type Report = (finding: Finding) => void;

export interface VerifyContext {
  lake: Lake;
  /** An empty database for queries. */
  db: Database;
  /** The tables, replayed from their logs. A table with a damaged log is missing. */
  tables: Map<TableName, ReplayedTable>;
  logFindings: Finding[];
  /** The maximum number of row groups to read; undefined to read all. */
  sample: number | undefined;
  signal: AbortSignal;
  io: Io;
}

export interface Proof {
  name: string;
  /** A sentence that states what the check proves. */
  claims: string;
  /** The next step after a failure; by default, a rebuild of the tables. */
  next?: string;
  /** Reports findings. Returns how many objects it has checked, and their kind. */
  prove(context: VerifyContext, report: Report): Promise<Looked>;
}

export interface Looked {
  count: bigint;
  /** A noun in the plural, such as `files`. */
  of: string;
  /** Facts that are shown although they aren't faults. */
  notes?: string[];
}

interface Applied {
  cursor: bigint | undefined;
  /** The id of the newest change in history beyond the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** The version of items from which a derived table was computed. */
  itemsVersion: bigint | undefined;
  /** A hash of the query that computed a derived table. */
  query: bigint | undefined;
}

/** Decodes Delta's `txn` actions. Shares no code with the writer (src/lake/table-state.ts), to notice its bugs. */
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

/** Creates views of exactly the files in the replayed logs. @throws DuckDB's error if it can't open a file */
export async function createReplayedViews(context: VerifyContext, tables: readonly TableName[]): Promise<void> {
  for (const table of tables) {
    const files = [...(context.tables.get(table)?.files.values() ?? [])];
    const sources = files.map((file) => toRelationFile(file, tablePath(context.lake, table, file.path)));
    await context.db.run(
      `CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${tableRelation(table, sources)}`,
    );
  }
}
