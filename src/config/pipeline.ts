import type { Budget, Cap } from '../plan/allowance.js';
import type { DatasetSelection, RunMode, Severity } from '../tables/table.js';

/** A validated pipeline file with its API key. Durations are in milliseconds, and sizes in bytes. */
export interface Pipeline {
  file: string;
  name: string;
  source: SourceSettings;
  lake: LakeSettings;
  /** The interval between complete comparisons; undefined if they are disabled. */
  reconcile?: number | undefined;
  /** The interval at which runs ask the service when each website was last seen; undefined if this is disabled. */
  probe?: number | undefined;
  /** The comparisons with the service that each run makes, and the number of items in its sample. */
  proof: { facets: boolean; products: boolean; sample: number };
  /** `overage` is the number of blocks that may be billed per month; null if it is unlimited. */
  budget: { calls: Cap; exportRows: Cap; overage: number | null } & Pick<Budget, 'share'>;
  analysis: AnalysisSettings;
  landing: { keep: number };
  checksFolder?: string | undefined;
  checks: CheckSettings;
  /** True if there is no pipeline file. The lake then keeps the settings of its last run. */
  keepsDeclared?: boolean;
  /** The user's decisions on which products match, from the file that `analysis.matches` names. */
  userMatches?: readonly UserMatch[];
}

/** The settings of checks, by the name of the check. */
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
  /** The shards by name. Each has a lake of its own. `budget` is a percentage of the pipeline's budget. */
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

/** The time for which a source may stay unseen, in seconds (0 for unlimited) or as a multiple of its usual interval. */
export type StaleAfter = { seconds: number } | { intervals: number };

interface AnalysisSettings {
  /** The number of days of price_spread_daily to keep; 0 to keep none. */
  daily: number;
  fx?: string | undefined;
  fxBase: string;
  staleAfter: StaleAfter;
  timeZone: string;
  matches?: string | undefined;
  /** The words in titles and conditions that mark an offer as used, refurbished or opened. */
  words: Record<'used' | 'refurbished' | 'opened', string[]>;
  attributes: AttributeNames;
  /** The settings for single websites, by website id. */
  shops: Record<string, { attributes: AttributeNames; timeZone?: string | undefined; region?: string | undefined }>;
}

/** Names of attributes, grouped by what they mean, and the values of the availability attribute by meaning. */
interface AttributeNames {
  availability?: string[] | undefined;
  shippingCost?: string[] | undefined;
  condition?: string[] | undefined;
  regularPrice?: string[] | undefined;
  quantity?: string[] | undefined;
  unit?: string[] | undefined;
  values: Record<'in stock' | 'out of stock' | 'on order', string[]>;
}

/** The user's decision on whether two products are the same. */
export interface UserMatch {
  productId: string;
  /** The product that sorts first, GTINs before other ids. In a match, it stands for all products of the group. */
  otherId: string;
  isMatch: boolean;
}
