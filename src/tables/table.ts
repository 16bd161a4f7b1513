/** Values that the stages exchange. Stages don't import each other. */

/** A table that follows from others alone (src/analyze/derived-tables.ts). */
interface Derived {
  /** Published tables that its query reads; those of them that are derived are made before it. */
  reads: readonly string[];
  /**
   * `product`: the rows of a product follow from its own items, and a large lake makes the table in parts. `brand`: they
   * follow from the items of its brand, while the other tables have no rows. `site`: those of a website follow from its items.
   */
  by: 'product' | 'brand' | 'site';
  /** The query of pipelines/analysis that makes it; default: the model of the table's name. */
  analysis?: string;
}

/**
 * Tables of the lake: `history` is the log, everything else follows from it. `landed` rows come from
 * what the service sent, `told` ones what the pipeline file says, derived ones from other tables alone, `kept` ones from
 * days that closed, and `recorded` ones describe runs.
 */
const TABLE_KINDS = {
  history: 'landed',
  stale_items: 'landed',
  items: 'landed',
  sites: 'landed',
  sources: 'landed',
  datasets: 'landed',
  products: { reads: ['items'], by: 'product' },
  product_prices: { reads: ['items'], by: 'product' },
  shop_currencies: { reads: ['items'], by: 'site' },
  offer_rules: 'told',
  offers: {
    reads: ['items', 'product_prices', 'shop_currencies', 'sources', 'offer_rules'],
    by: 'product',
    analysis: 'judged_offers',
  },
  price_spread: { reads: ['offers', 'sites'], by: 'product', analysis: 'price_spread' },
  user_matches: 'told',
  matches: { reads: ['items', 'user_matches'], by: 'brand' },
  service_products: 'landed',
  price_spread_daily: 'kept',
  rejects: 'landed',
  check_results: 'recorded',
  runs: 'recorded',
} as const satisfies Record<string, 'landed' | 'told' | 'kept' | 'recorded' | Derived>;
type TableKinds = typeof TABLE_KINDS;
export type TableName = keyof TableKinds;
export const TABLE_NAMES = Object.keys(TABLE_KINDS) as readonly TableName[];

/**
 * Steps of a run's commits; the tables of a step, in any order. History first: it is the log, and everything else follows
 * from it. The closed days come before items: which products an item has left is known only while the previous rows
 * exist. The ledger is last.
 */
export const COMMIT_STEPS: readonly (readonly TableName[])[] = orderCommits();

function orderCommits(): TableName[][] {
  const first: TableName[] = ['history', 'price_spread_daily', 'stale_items', 'items'];
  const last = TABLE_NAMES.filter((table) => TABLE_KINDS[table] === 'recorded');
  const others = TABLE_NAMES.filter((table) => !first.includes(table) && !last.includes(table));
  return [...first.map((table) => [table]), others, ...last.map((table) => [table])];
}

/** Tables that follow from others alone. */
export type DerivedTableName = { [K in TableName]: TableKinds[K] extends Derived ? K : never }[TableName];
export const DERIVED_TABLES = TABLE_NAMES.filter(
  (table): table is DerivedTableName => typeof TABLE_KINDS[table] === 'object',
);

/** Tables whose rows are settings of the pipeline file. */
export type ToldTableName = { [K in TableName]: TableKinds[K] extends 'told' ? K : never }[TableName];
export const TOLD_TABLES = TABLE_NAMES.filter((table): table is ToldTableName => TABLE_KINDS[table] === 'told');

/** The tables that a derived table reads, and the query that makes it. */
export function describeDerived(table: DerivedTableName): Derived & { reads: readonly TableName[] } {
  return TABLE_KINDS[table];
}

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

/** A file that is written under `_pricelake/staging`, not yet part of its table. One without a checksum is still to be synced. */
export interface StagedFile extends DataFile {
  /** Its absolute path now. */
  stagedAt: string;
}

/** One table's next version: what a commit adds and removes. */
export interface FileChange {
  table: TableName;
  add: StagedFile[];
  remove: DataFile[];
  /** Facts that the commit notes; absent ones stay as they were. */
  applied: Partial<Applied>;
  /** False where the same rows only moved to other files (compaction); default true. */
  dataChange?: boolean;
}

/**
 * The state up to which a table is applied. Each commit notes it, so that it neither leads nor trails the data
 * (src/lake/table-state.ts). Undefined if no commit has noted it.
 */
export interface Applied {
  /** Number of the run that wrote last. */
  run: bigint | undefined;
  /** The feed cursor up to which the table is applied. */
  cursor: bigint | undefined;
  /** History only: its newest change ahead of the feed's cursor, or 0. */
  ahead: bigint;
  /** Items only: µs since 1970 up to which they were polled; 0 after a run by the feed. */
  polledAt: bigint;
  /** Items only: the datasets that they are a copy of. */
  datasets: CopiedDatasets;
  /** Derived tables only: the version of `items` that it was computed from. */
  itemsVersion: bigint | undefined;
  /** Derived tables only: the query that made it (src/analyze/derived-tables.ts). */
  query: bigint | undefined;
  /** Tables of the pipeline file only: a hash of their rows. */
  told: bigint | undefined;
  /** price_spread_daily only: days since 1970 up to which it is made; 0 if it is not kept. */
  day: bigint;
  /** The first of these days. */
  firstDay: bigint | undefined;
  /** The version up to which changes by other programs have been repaired. */
  accepted: bigint | undefined;
}

/** The datasets that the items are a copy of. */
export interface CopiedDatasets {
  /** True where a list was asked for; false where it is all that the key can read. */
  isList: boolean;
  /** Ids of the datasets that were copied whole, in order. Empty for a lake that copies all datasets. */
  ids: readonly bigint[];
}

/** A table as its commit log says it is. */
export interface TableState {
  table: TableName;
  /** -1n before the first commit. */
  version: bigint;
  files: DataFile[];
  applied: Applied;
  difference: ColumnDifference;
  /** True when another program wrote some of the files: they may lack columns, or have other types. */
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
  /** Its change to the table's rows, in words; undefined if they stay the same. */
  change: string | undefined;
  raisesProtocol: boolean;
}

/** Differences between the columns of a published table and its contract, schemas/<table>.yaml. */
export interface ColumnDifference {
  /** Columns that the table lacks. */
  missing: string[];
  /** Columns that the contract does not know. */
  unknown: string[];
  /** Columns of another type, in Delta's words. */
  retyped: { name: string; has: string; wants: string }[];
}

/** The longest expected lag of an answer behind the feed. Younger changes are looked for in rows, or polled again. */
export const LAG_MS = 3600 * 1000;

/** Modes of a run: a complete copy, the change feed, or the items that changed since the last run. */
export const RUN_MODES = ['snapshot', 'feed', 'poll'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** Answers that bring changes of items. */
export const CHANGE_ORIGINS = ['feed', 'webhook', 'history'] as const;
export type ChangeOrigin = (typeof CHANGE_ORIGINS)[number];

/** Answers that become tables or decide on runs, by the endpoint that brings them. */
export type AnswerName =
  | '/export'
  | '/items'
  | '/changes'
  | 'webhook'
  | '/items/{id}/history'
  | '/datasets'
  | '/facets'
  | '/products'
  | '/plan';

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
