/** Types that several folders share. This folder imports none of these folders, so each of them can import it. */

/** A table that is computed from other tables only (src/analyze/derived-tables.ts). */
interface Derived {
  /** The published tables that the query reads. If one of them is derived, it is computed before this table. */
  reads: readonly string[];
  /**
   * The items on which a row depends. `product`: the items of its product, so that a large lake can compute the table
   * in parts. `brand`: the items of its brand, and any rows of other tables. `site`: the items of its website.
   */
  by: 'product' | 'brand' | 'site';
  /** The query in pipelines/analysis that computes the table; defaults to the model with the table's name. */
  analysis?: string;
}

/**
 * The lake's tables and their kinds. `history` is the log of all changes. `landed` rows come from the service,
 * `declared` rows from the pipeline file, and derived rows from other tables. `kept` rows describe days that have
 * closed. `recorded` rows describe runs.
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
 * The order of a run's commits. Tables of one step may be committed in any order. History is first, because a later run
 * can apply its changes to the other tables. Closed days precede items, because only the previous items show which
 * product an item has left. `stale_items` gets new rows before items is committed, and loses rows afterwards. So if the
 * run stops in between, no stale item is lost, even if the downloaded files are. The tables that record runs are last.
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
  /** The path within the table's folder. It uses `/` and isn't URL-encoded: `site_id-12.0198….parquet`. */
  path: string;
  rows: bigint;
  bytes: number;
  /** The values of the partition columns as text, in order; null for SQL NULL. */
  partitionValues: Record<string, string | null>;
  /** Delta statistics as JSON text (numRecords, minValues, maxValues, nullCount). */
  stats: string;
  modifiedAt: number;
  /** The SHA-256 of the file in hexadecimal; undefined if another program wrote the file. */
  sha256?: string;
}

/** A file in `_pricelake/staging` that isn't in its table yet. It has no checksum until it is synced. */
export interface StagedFile extends DataFile {
  /** The absolute path of the file at present. */
  stagedAt: string;
}

/** The changes of a commit: the files that it adds to a table, and the files that it removes. */
export interface FileChange {
  table: TableName;
  add: StagedFile[];
  remove: DataFile[];
  /** Values that the commit records. An omitted value keeps its previous value. */
  applied: Partial<Applied>;
  /** False if the commit only moves rows to other files (compaction); defaults to true. */
  dataChange?: boolean;
}

/**
 * Values that each commit records together with the table's data, so that they always match (src/lake/table-state.ts).
 * A value is undefined if no commit has recorded it.
 */
export interface Applied {
  /** The number of the last run that wrote the table. */
  run: bigint | undefined;
  cursor: bigint | undefined;
  /** Only for history: the id of the newest change beyond the feed's cursor, or 0. */
  ahead: bigint;
  /** Only for items: the time up to which items were polled, in µs since 1970; 0 if the last run read the feed. */
  polledAt: bigint;
  /** Only for items: the datasets that were copied. */
  datasets: CopiedDatasets;
  /** Only for derived tables: the version of `items` from which the table was computed. */
  itemsVersion: bigint | undefined;
  /** Only for derived tables: a hash of the query that computed the table (src/analyze/derived-tables.ts). */
  query: bigint | undefined;
  /** Only for tables with settings of the pipeline file: a hash of the table's rows. */
  declared: bigint | undefined;
  /** Only for price_spread_daily: the last closed day, in days since 1970; 0 if no day has been computed. */
  day: bigint;
  /** Only for price_spread_daily: the first closed day, in days since 1970. */
  firstDay: bigint | undefined;
  /** Commits by other programs, up to this version of the table, have been repaired. */
  accepted: bigint | undefined;
}

export interface CopiedDatasets {
  /** True if the user has listed datasets; false if the lake copies all datasets that the key can read. */
  isList: boolean;
  /** The ids of the datasets that were copied completely, in order; empty if the lake has recorded none. */
  ids: readonly bigint[];
}

/** The state of a table according to its log. */
export interface TableState {
  table: TableName;
  /** The version of the last commit; -1n before the first commit. */
  version: bigint;
  files: DataFile[];
  applied: Applied;
  difference: ColumnDifference;
  /** True if a file has no checksum in the log. Such a file may lack columns, or have columns of other types. */
  hasOlderFiles: boolean;
}

/** The differences between a published table and its contract, schemas/<table>.yaml. */
export interface ColumnDifference {
  missing: string[];
  /** The columns that the contract doesn't contain. */
  unknown: string[];
  retyped: { name: string; has: string; wants: string }[];
}

/**
 * The longest time, in milliseconds, that other responses are expected to lag behind the feed. Complete rows may lack
 * changes that are more recent.
 */
export const LAG_MS = 3600 * 1000;

/** The modes in which a run updates the lake: a complete copy, the feed, or a poll of recently changed items. */
export const RUN_MODES = ['snapshot', 'feed', 'poll'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/**
 * The sources of changes, with their values in the column `origin` of history. An `early` change may arrive before the
 * feed contains it. A `past` change may be older than the lake.
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

/** Receives each parsed row of a response. The values of CSV rows are text. */
export type LookAtRow = (answer: AnswerName, row: unknown, format?: 'csv') => void;

/** The ids of the datasets that the lake copies, in order (API §4, /datasets), or `all`. */
export type DatasetSelection = 'all' | readonly bigint[];

export type Severity = 'gate' | 'error' | 'warn';

/** The result of a check, as the table check_results stores it. */
export interface CheckResult {
  name: string;
  severity: Severity;
  description: string;
  violations: bigint;
  /** True if a gate failed and a person has waived it. */
  waived: boolean;
  sample: string;
  seconds: number;
}
