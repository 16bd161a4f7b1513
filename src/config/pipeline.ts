import type { Budget, Cap } from '../plan/allowance.js';
import type { DatasetSelection, RunMode, Severity } from '../tables/table.js';

/** A validated pipeline file with its API key. Durations are in milliseconds, sizes in bytes. */
export interface Pipeline {
  file: string;
  name: string;
  source: SourceSettings;
  lake: LakeSettings;
  /** Interval between complete comparisons; undefined if they are disabled. */
  reconcile?: number | undefined;
  /** Interval between rounds that look up when each website was last seen; undefined if they are disabled. */
  probe?: number | undefined;
  /** The independent comparisons that a run makes with the service, and their sample size. */
  proof: { facets: boolean; products: boolean; sample: number };
  /** `overage`: the number of blocks that may be billed per month; null if it is unlimited. */
  budget: { calls: Cap; exportRows: Cap; overage: number | null } & Pick<Budget, 'share'>;
  analysis: AnalysisSettings;
  landing: { keep: number };
  checksFolder?: string | undefined;
  checks: CheckSettings;
  /** True if there is no pipeline file, in which case the lake keeps the settings of its last run. */
  keepsDeclared?: boolean;
  /** The decisions in the `analysis.matches` file. */
  userMatches?: readonly UserMatch[];
}

/** Settings keyed by check name. */
export interface CheckSettings {
  [name: string]: {
    severity?: Severity | 'off' | undefined;
    parameters?: Record<string, string | number> | undefined;
  };
}

interface SourceSettings {
  baseUrl: string;
  apiKey: string;
  datasets: DatasetSelection;
  /** The shards by name, each with its own lake. `budget` is a percentage of the pipeline's budget. */
  shards?: Record<string, { datasets: bigint[]; budget?: number | undefined }> | undefined;
  mode: 'auto' | RunMode;
  feedOverlap: number;
  products: 'none' | 'all';
  history: 'feed' | 'items' | 'none';
  export: 'ndjson' | 'csv';
  /** Maps columns of export rows to fields of Item. */
  mapping: Record<string, string>;
  splitAbove: number;
}

interface LakeSettings {
  path: string;
  remote?: string | undefined;
  retention: number;
  iceberg?: boolean | string | undefined;
  targetFileSize: number;
  memory?: number | undefined;
  tables: { items?: { partitionBy: string[] } | undefined };
}

/** The time that a source may go unseen: a number of seconds (0 for unlimited), or a multiple of its usual interval. */
export type StaleAfter = { seconds: number } | { intervals: number };

interface AnalysisSettings {
  /** The number of days of price_spread_daily to keep, which may be 0. */
  daily: number;
  fx?: string | undefined;
  fxBase: string;
  staleAfter: StaleAfter;
  timeZone: string;
  matches?: string | undefined;
  /** Words in titles and conditions, grouped by their meaning. */
  words: Record<'used' | 'refurbished' | 'opened', string[]>;
  attributes: AttributeNames;
  /** Settings keyed by website id. */
  shops: Record<string, { attributes: AttributeNames; timeZone?: string | undefined; region?: string | undefined }>;
}

/** Attribute names by meaning, and the values of availability attributes by meaning. */
interface AttributeNames {
  availability?: string[] | undefined;
  shippingCost?: string[] | undefined;
  condition?: string[] | undefined;
  regularPrice?: string[] | undefined;
  quantity?: string[] | undefined;
  unit?: string[] | undefined;
  values: Record<'in stock' | 'out of stock' | 'on order', string[]>;
}

/** The user's decision whether two products are the same. */
export interface UserMatch {
  productId: string;
  /**
   * The product that sorts first, with GTINs before other ids. For a match, it represents all products of its group.
   */
  otherId: string;
  isMatch: boolean;
}
