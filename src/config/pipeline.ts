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
  /** The interval at which a run requests the time at which the service last saw each website; undefined for never. */
  probe?: number | undefined;
  /** The comparisons with the service that each run makes. `sample` is the number of items to compare. */
  proof: { facets: boolean; products: boolean; sample: number };
  /** `overage` is the number of blocks of 10,000 rows that may be billed per month; null if it is unlimited. */
  budget: { calls: Cap; exportRows: Cap; overage: number | null } & Pick<Budget, 'share'>;
  analysis: AnalysisSettings;
  landing: { keep: number };
  checksFolder?: string | undefined;
  checks: CheckSettings;
  /** True if there is no pipeline file. The lake then keeps the settings that its last run recorded. */
  keepsDeclared?: boolean;
  /** The user's decisions on whether products match, from the file that `analysis.matches` names. */
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

/** The longest time that a source may be unseen: seconds (0 for unlimited), or a multiple of its usual interval. */
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

/** The names of attributes, by their meaning, and the values of the availability attribute, by their meaning. */
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
  /** The product that comes first: GTINs come before other ids. If the products match, it represents their group. */
  otherId: string;
  isMatch: boolean;
}
