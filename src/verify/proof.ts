import type { Database } from '../duckdb/connection.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../lake/lake.js';
import type { TableName } from '../tables/table.js';
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
