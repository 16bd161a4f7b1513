/** Values that the stages exchange. Stages don't import each other. */

/** A table that is derived from others alone (src/analyze/derived-tables.ts). */
interface Derived {
  /** The published tables that its query reads. Derived ones among them are made before it. */
  reads: readonly string[];
  /**
   * `product`: the rows of a product follow from its own items, and a large lake makes the table in parts. `brand`:
   * they follow from the items of its brand, with no rows in the other tables. `site`: the rows of a website follow
   * from its items.
   */
  by: 'product' | 'brand' | 'site';
  /** The query of pipelines/analysis that makes it; by default, the model with the table's name. */
  analysis?: string;
}

/**
 * Tables of the lake: `history` is the log, everything else follows from it. `landed` rows come from
 * what the service sent, `declared` ones are settings of the pipeline file, derived ones from other tables alone, `kept` ones from
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
 * The steps of a run's commits, with the tables of each step in any order. History comes first, because everything else
 * follows from it. Closed days come before items, because only the previous rows show which products an item has left.
 * The ledger comes last.
 */
export const COMMIT_STEPS: readonly (readonly TableName[])[] = orderCommits();

function orderCommits(): TableName[][] {
  const first: TableName[] = ['history', 'price_spread_daily', 'stale_items', 'items'];
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

/** A data file of a table, as the commit log names it. */
export interface DataFile {
  /** The path in the table's folder, with `/`, not URL-encoded: `site_id-12.0198….parquet`. */
  path: string;
  rows: bigint;
  bytes: number;
  /** The values of the partition columns as text (null for SQL NULL), in partition order. */
  partitionValues: Record<string, string | null>;
  /** Delta's statistics as JSON text (numRecords, minValues, maxValues, nullCount). */
  stats: string;
  modifiedAt: number;
  /** The SHA-256 of its bytes in hexadecimal; absent if another program wrote the file. */
  sha256?: string;
}

/**
 * A file in `_pricelake/staging` that is not part of its table yet. If it has no checksum, it is still to be synced.
 */
export interface StagedFile extends DataFile {
  /** Its current absolute path. */
  stagedAt: string;
}

/** The next version of a table: the files that a commit adds and removes. */
export interface FileChange {
  table: TableName;
  add: StagedFile[];
  remove: DataFile[];
  /** Facts that the commit records. Absent ones stay unchanged. */
  applied: Partial<Applied>;
  /** False if the same rows only moved to other files (compaction); default true. */
  dataChange?: boolean;
}

/**
 * The state up to which a table is applied. Each commit records it, so that it neither leads nor trails the data
 * (src/lake/table-state.ts). A value is undefined if no commit has recorded it.
 */
export interface Applied {
  /** The number of the last run that wrote the table. */
  run: bigint | undefined;
  cursor: bigint | undefined;
  /** History only: its newest change beyond the feed's cursor, or 0. */
  ahead: bigint;
  /** Items only: the time up to which they were polled, in µs since 1970; 0 after a run by the feed. */
  polledAt: bigint;
  /** Items only: the datasets that they are a copy of. */
  datasets: CopiedDatasets;
  /** Derived tables only: the version of `items` that the table was computed from. */
  itemsVersion: bigint | undefined;
  /** Derived tables only: the query that made it (src/analyze/derived-tables.ts). */
  query: bigint | undefined;
  /** Tables of the pipeline file only: a hash of their rows. */
  declared: bigint | undefined;
  /** price_spread_daily only: the last closed day, in days since 1970; 0 if the table is not kept. */
  day: bigint;
  /** The first of these days. */
  firstDay: bigint | undefined;
  /** The version up to which foreign commits have been repaired. */
  accepted: bigint | undefined;
}

export interface CopiedDatasets {
  /** True if the user asked for a list of datasets; false for all that the key can read. */
  isList: boolean;
  /** The ids of the datasets that were copied whole, in order. Empty for a lake that copies all datasets. */
  ids: readonly bigint[];
}

/** A table as its commit log describes it. */
export interface TableState {
  table: TableName;
  /** -1n before the first commit. */
  version: bigint;
  files: DataFile[];
  applied: Applied;
  difference: ColumnDifference;
  /** True when some files have no checksum in the log: they may lack columns, or have other types. */
  hasOlderFiles: boolean;
}

/** Differences between a published table and its contract, schemas/<table>.yaml. */
export interface ColumnDifference {
  missing: string[];
  /** Columns that the contract does not name. */
  unknown: string[];
  retyped: { name: string; has: string; wants: string }[];
}

/**
 * The longest time by which an answer is expected to lag behind the feed. Younger changes are looked for in rows, or
 * polled again.
 */
export const LAG_MS = 3600 * 1000;

/** The modes of a run: a complete copy, the change feed, or the items that changed since the last run. */
export const RUN_MODES = ['snapshot', 'feed', 'poll'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/**
 * The origins of changes, as column `origin` of history names them. `early` changes may come before the feed brings
 * them, and `past` ones may be older than the lake.
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

/** Called with the parsed rows of an answer. In CSV all values are texts. */
export type LookAtRow = (answer: AnswerName, row: unknown, format?: 'csv') => void;

/** The ids of the datasets that the lake copies (section 4, /datasets), in order. */
export type DatasetSelection = 'all' | readonly bigint[];

export type Severity = 'gate' | 'error' | 'warn';

/** The result of a check (table `check_results`). */
export interface CheckResult {
  name: string;
  severity: Severity;
  description: string;
  violations: bigint;
  /** True for a failed gate that a person waived. */
  waived: boolean;
  sample: string;
  seconds: number;
}
