import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../lake/lake.js';
import { tablePath } from '../lake/layout.js';
import type { TableName } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import type { ReplayedTable } from './replayed-table.js';

/** Something that is not as it must be. */
export interface Finding {
  table?: TableName;
  /** Relative to the lake. */
  file?: string;
  what: string;
}

export type Report = (finding: Finding) => void;

/** What proofs look at. */
export interface VerifyContext {
  lake: Lake;
  /** A database with nothing in it. */
  db: Database;
  /** Every table as its own log, replayed from its beginning, says it is; those with a damaged log are absent. */
  tables: Map<TableName, ReplayedTable>;
  /** What the replay found. */
  logFindings: Finding[];
  /** Row groups to read at most; undefined reads all. */
  sample: number | undefined;
  signal: AbortSignal;
  io: Io;
}

/** One way to prove that a lake is whole. */
export interface Proof {
  name: string;
  /** What is true of a sound lake. */
  claims: string;
  /** What to do where it fails; default: make the tables again. */
  next?: string;
  /** Reports what speaks against it; returns how many things it looked at, and of what kind. */
  prove(context: VerifyContext, report: Report): Promise<Looked>;
}

export interface Looked {
  count: bigint;
  /** Plural noun: `files`. */
  of: string;
  /** What is as it may be, and worth knowing. */
  notes?: string[];
}

/** Up to where a table's log says that it is applied. */
interface Applied {
  cursor: bigint | undefined;
  /** Newest change of history ahead of the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** Version of items that a derived table was made from. */
  itemsVersion: bigint | undefined;
  /** Tells the query that it was made by. */
  query: bigint | undefined;
}

/** Decodes Delta's `txn` once more: a fault of the writer's decoder (src/lake/table-state.ts) must not hide from a proof. */
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

/** Views over exactly the files that the replayed logs name. Throws what DuckDB says of a file that it can't open. */
export async function createReplayedViews(context: VerifyContext, tables: readonly TableName[]): Promise<void> {
  for (const table of tables) {
    const files = [...(context.tables.get(table)?.files.values() ?? [])];
    const sources = files.map((file) => toRelationFile(file, tablePath(context.lake, table, file.path)));
    await context.db.run(
      `CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${tableRelation(table, sources)}`,
    );
  }
}
