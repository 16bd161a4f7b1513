/** Types that the stages exchange, because stages don't import each other. */

/** A table that is computed only from other tables (src/analyze/derived-tables.ts). */
interface Derived {
  /** The published tables that its query reads. Derived tables among them are computed first. */
  reads: readonly string[];
  /**
   * Defines the rows that a row depends on. `product`: the items of its product, so a large lake computes the table in parts. `brand`:
   * the items of its brand, and no rows of other tables. `site`: the items of its website.
   */
  by: 'product' | 'brand' | 'site';
  /** The query in pipelines/analysis that computes the table; by default, the model with the table's name. */
  analysis?: string;
}

/**
 * The lake's tables by kind. `history` is the log from which the other tables follow. `landed` rows come from the
 * service, `declared` rows from the pipeline file, derived rows from other tables, `kept` rows from closed days;
 * `recorded` rows describe runs.
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
  offer_rules: 'declared',
  offers: {
    reads: ['items', 'product_prices', 'shop_currencies', 'sources', 'offer_rules'],
    by: 'product',
    analysis: 'judged_offers',
  },
  price_spread: { reads: ['offers', 'sites'], by: 'product', analysis: 'price_spread' },
  user_matches: 'declared',
  matches: { reads: ['items', 'user_matches'], by: 'brand' },
  service_products: 'landed',
  price_spread_daily: 'kept',
  rejects: 'landed',
  check_results: 'recorded',
  runs: 'recorded',
} as const satisfies Record<string, 'landed' | 'declared' | 'kept' | 'recorded' | Derived>;
type TableKinds = typeof TABLE_KINDS;
export type TableName = keyof TableKinds;
export const TABLE_NAMES = Object.keys(TABLE_KINDS) as readonly TableName[];

/**
 * The order of a run's commits; tables within a step may be committed in any order. History comes first, because
 * everything else follows from it. Closed days come before items, because only the previous rows show which products an
 * item has left. Rows are added to stale_items before items is committed and removed afterwards, so a run that stops in
 * between, even one that loses its landed files, doesn't lose a stale item. The tables that record runs come last.
 */
export const COMMIT_STEPS: readonly (readonly TableName[])[] = orderCommits();

function orderCommits(): TableName[][] {
  const first: TableName[] = ['history', 'price_spread_daily', 'stale_items', 'items', 'stale_items'];
  const last = TABLE_NAMES.filter((table) => TABLE_KINDS[table] === 'recorded');
  const middle = TABLE_NAMES.filter((table) => !first.includes(table) && !last.includes(table));
  return [...first.map((table) => [table]), middle, ...last.map((table) => [table])];
}

export type DerivedTableName = { [K in TableName]: TableKinds[K] extends Derived ? K : never }[TableName];
export const DERIVED_TABLES = TABLE_NAMES.filter(
  (table): table is DerivedTableName => typeof TABLE_KINDS[table] === 'object',
);

export type DeclaredTableName = { [K in TableName]: TableKinds[K] extends 'declared' ? K : never }[TableName];
export const DECLARED_TABLES = TABLE_NAMES.filter(
  (table): table is DeclaredTableName => TABLE_KINDS[table] === 'declared',
);

export function describeDerived(table: DerivedTableName): Derived & { reads: readonly TableName[] } {
  return TABLE_KINDS[table];
}

/** A data file of a table, as recorded in the commit log. */
export interface DataFile {
  /** The path within the table's folder, with `/`, not URL-encoded: `site_id-12.0198….parquet`. */
  path: string;
  rows: bigint;
  bytes: number;
  /** The partition columns' values as text (null for SQL NULL), in partition order. */
  partitionValues: Record<string, string | null>;
  /** Delta statistics as JSON text (numRecords, minValues, maxValues, nullCount). */
  stats: string;
  modifiedAt: number;
  /** The SHA-256 of the file in hexadecimal; undefined if another program wrote the file. */
  sha256?: string;
}

/** A file in `_pricelake/staging` that isn't part of its table yet. Without a checksum, it hasn't been synced. */
export interface StagedFile extends DataFile {
  /** The file's current absolute path. */
  stagedAt: string;
}

/** The changes of a commit: the files that it adds to a table and removes from it. */
export interface FileChange {
  table: TableName;
  add: StagedFile[];
  remove: DataFile[];
  /** Facts that the commit records. Facts not given stay unchanged. */
  applied: Partial<Applied>;
  /** False if the commit only rewrites the same rows into other files (compaction); default true. */
  dataChange?: boolean;
}

/**
 * The progress of a table, recorded in each of its commits, so that it always agrees with the data
 * (src/lake/table-state.ts). A value is undefined if no commit has recorded it.
 */
export interface Applied {
  /** The number of the last run that wrote the table. */
  run: bigint | undefined;
  cursor: bigint | undefined;
  /** History only: the newest change id beyond the feed's cursor, or 0. */
  ahead: bigint;
  /** Items only: the time up to which items were polled, in µs since 1970; 0 after a run that used the feed. */
  polledAt: bigint;
  /** Items only: the datasets that were copied. */
  datasets: CopiedDatasets;
  /** Derived tables only: the version of `items` from which the table was computed. */
  itemsVersion: bigint | undefined;
  /** Derived tables only: a hash of the query that computed the table (src/analyze/derived-tables.ts). */
  query: bigint | undefined;
  /** Tables declared in the pipeline file only: a hash of their rows. */
  declared: bigint | undefined;
  /** price_spread_daily only: the last closed day, in days since 1970; 0 if the table is not maintained. */
  day: bigint;
  /** price_spread_daily only: the first closed day, in days since 1970. */
  firstDay: bigint | undefined;
  /** The table version up to which commits by other programs have been repaired. */
  accepted: bigint | undefined;
}

export interface CopiedDatasets {
  /** True if the user listed the datasets; false if the lake copies every dataset that the key can read. */
  isList: boolean;
  /** The ids of the listed datasets that were copied whole, in order; empty if the lake copies every dataset. */
  ids: readonly bigint[];
}

/** The state of a table according to its commit log. */
export interface TableState {
  table: TableName;
  /** The version of the last commit; -1n before the first commit. */
  version: bigint;
  files: DataFile[];
  applied: Applied;
  difference: ColumnDifference;
  /** True if some files have no checksum in the log, so they may lack columns or have other column types. */
  hasOlderFiles: boolean;
}

/** Differences between a published table and its contract, schemas/<table>.yaml. */
export interface ColumnDifference {
  missing: string[];
  /** Columns that are not in the contract. */
  unknown: string[];
  retyped: { name: string; has: string; wants: string }[];
}

/**
 * The longest expected delay, in milliseconds, between the feed and other responses. Changes more recent than this are
 * verified against rows, or polled again.
 */
export const LAG_MS = 3600 * 1000;

/** The modes of a run: a complete copy, the change feed, or polling the items that changed since the last run. */
export const RUN_MODES = ['snapshot', 'feed', 'poll'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/**
 * The origins of changes, as recorded in the `origin` column of history. An `early` change may arrive before the feed
 * returns it; a `past` change may be older than the lake.
 */
export const ORIGIN = { feed: 'feed', early: 'webhook', past: 'history' } as const;
export type ChangeOrigin = (typeof ORIGIN)[keyof typeof ORIGIN];
export const CHANGE_ORIGINS = [ORIGIN.feed, ORIGIN.early, ORIGIN.past] as const;

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

export const CHANGE_ANSWERS: Record<ChangeOrigin, AnswerName> = {
  feed: '/changes',
  webhook: 'webhook',
  history: '/items/{id}/history',
};

/** Receives each parsed row of a response. In CSV, all values are text. */
export type LookAtRow = (answer: AnswerName, row: unknown, format?: 'csv') => void;

/** The ids of the datasets that the lake copies (API §4, /datasets), in order, or all datasets. */
export type DatasetSelection = 'all' | readonly bigint[];

export type Severity = 'gate' | 'error' | 'warn';

/** The result of a check, as stored in the check_results table. */
export interface CheckResult {
  name: string;
  severity: Severity;
  description: string;
  violations: bigint;
  /** True if the check is a gate that failed and that a person waived. */
  waived: boolean;
  sample: string;
  seconds: number;
}
