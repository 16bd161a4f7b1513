/** What the stages exchange. Stages don't import each other: they meet here. */

/** Tables of the lake, in commit order: `history` is the log, everything else follows from it. */
export const TABLE_NAMES = [
  'history',
  'stale_items',
  'items',
  'sites',
  'datasets',
  'products',
  'product_prices',
  'price_spread',
  'service_products',
  'price_spread_daily',
  'rejects',
  'check_results',
  'runs',
] as const;
export type TableName = (typeof TABLE_NAMES)[number];

/** A data file of a table as the commit log names it. */
export interface DataFile {
  /** Relative to the table's folder, with `/`, not URL-encoded: `site_id-12.0198….parquet`. */
  path: string;
  rows: bigint;
  bytes: number;
  /** Partition column → value as text (null for SQL NULL), in partition order. */
  partitionValues: Record<string, string | null>;
  /** Delta statistics as JSON text (numRecords, minValues, maxValues, nullCount). */
  stats: string;
  /** When it was written, ms since the epoch. */
  modifiedAt: number;
  /** Checksum of its bytes, hexadecimal; absent where another program wrote the file. */
  sha256?: string;
}

/** A file that is written and synced under `_pricelake/staging`, not yet part of its table. */
export interface StagedFile extends DataFile {
  /** Absolute path where it stands now. */
  stagedAt: string;
}

/** One table's next version: what a commit adds and removes. */
export interface TableChange {
  table: TableName;
  add: StagedFile[];
  remove: DataFile[];
  /** Delta `txn` entries, application id → version (int64): the cursor is part of the commit. */
  txn: Record<string, bigint>;
  /** False where the same rows only stand in other files (compaction); default true. */
  dataChange?: boolean;
  /** True where the same files only get other names: columns and properties of the table stay as they are. */
  isRename?: boolean;
}

/** A table as its commit log says it is. */
export interface TableState {
  table: TableName;
  /** -1n before the first commit. */
  version: bigint;
  files: DataFile[];
  txn: Record<string, bigint>;
  drift: ColumnDrift;
  /** True when some of the files may be older than a column of the contract, and lack it. */
  hasOlderFiles: boolean;
  /** Version of the checkpoint that the log was read from. */
  checkpoint: bigint | undefined;
  /** Commits by other programs since then. */
  foreign: ForeignCommit[];
}

/** A commit that another program wrote. */
export interface ForeignCommit {
  table: TableName;
  version: bigint;
  /** As its commitInfo says: `DELETE`, `OPTIMIZE`. */
  operation: string;
  /** `delta-rs:py-1.6.6` */
  engine: string;
  /** What it changed of what the table says, in words; undefined where the same rows stand in other files, or nothing. */
  change: string | undefined;
  raisesProtocol: boolean;
}

/** How the columns of a published table differ from its contract, schemas/<table>.yaml. */
export interface ColumnDrift {
  /** Columns that the contract has gained since: the next commit adds them, and older rows have null in them. */
  missing: string[];
  /** Columns that the contract does not know. */
  unknown: string[];
  /** Columns of another type, in Delta's words. */
  retyped: { name: string; has: string; wants: string }[];
}

/** `txn` application ids. */
export const TXN_CURSOR = 'pricelake.cursor'; // the feed cursor up to which the table is applied
export const TXN_RUN = 'pricelake.run'; // number of the run that wrote last
export const TXN_POLLED = 'pricelake.polled'; // µs since 1970 up to which items were polled; 0 after a run by the feed
export const TXN_WEBHOOK = 'pricelake.webhook'; // newest change of history that webhooks brought ahead of the feed
export const TXN_ACCEPTED = 'pricelake.accepted'; // version up to which changes by other programs have been repaired
export const TXN_ITEMS = 'pricelake.items'; // version of `items` that a derived table was computed from
/** Of items: how many datasets the lake is a copy of; 0 or absent is all that the key can read. */
export const TXN_DATASETS = 'pricelake.datasets';
/** Of items, with a dataset's id behind it: 1 when the lake has a copy of it, 0 when the key can't read it any more. */
export const TXN_DATASET = 'pricelake.dataset.';
export const TXN_DAY = 'pricelake.day'; // days since 1970 up to which price_spread_daily is made; 0 when it is not kept
export const TXN_FIRST_DAY = 'pricelake.day.first'; // the first of these days; older lakes lack it

/** How long an answer is expected to lag behind the feed at most: changes so old are looked for in rows, or polled again. */
export const LAG_MS = 3600 * 1000;

/** How a run brings a lake up to date: with a complete copy, by the change feed, or by the items changed since. */
export const RUN_MODES = ['snapshot', 'feed', 'poll'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** Answers that become tables, by the endpoint that brings them. */
export type AnswerName =
  | '/export'
  | '/items'
  | '/changes'
  | 'webhook'
  | '/items/{id}/history'
  | '/datasets'
  | '/facets'
  | '/products';

/** Shown parsed rows of an answer on their way; in CSV all values are texts. */
export type LookAtRow = (answer: AnswerName, row: unknown, format?: 'csv') => void;

/** The datasets that a copy is of, by their ids (section 4, /datasets), in order. */
export type DatasetSelection = 'all' | readonly bigint[];

export type Severity = 'gate' | 'error' | 'warn';

/** Result of one check (table `check_results`). */
export interface CheckResult {
  name: string;
  severity: Severity;
  description: string;
  violations: bigint;
  /** True for a gate that failed while a person let the batch through. */
  waived: boolean;
  /** First violating rows as JSON text. */
  sample: string;
  seconds: number;
}
