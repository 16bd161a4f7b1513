import type { Budget, Cap } from '../plan/allowance.js';
import type { DatasetSelection, RunMode, Severity } from '../tables/table.js';

/**
 * A pipeline file that was checked (src/config/pipeline-schema.ts), with its key, as runs read it. Durations are in
 * milliseconds, sizes in bytes.
 */
export interface Pipeline {
  file: string;
  name: string;
  source: SourceSettings;
  lake: LakeSettings;
  /** Time between two complete comparisons; undefined is never. */
  reconcile?: number | undefined;
  /** Time between two rounds that ask each website when it was seen; undefined is never. */
  probe?: number | undefined;
  /** The comparisons that witnesses make, and the size of their sample. */
  proof: { facets: boolean; products: boolean; sample: number };
  /** `overage`: blocks that may be billed a month; null is any number. */
  budget: { calls: Cap; exportRows: Cap; overage: number | null } & Pick<Budget, 'share'>;
  analysis: AnalysisSettings;
  landing: { keep: number };
  checksFolder?: string | undefined;
  checks: CheckSettings;
  /** True if there is no pipeline file. The lake then keeps the settings of its last run. */
  keepsDeclared?: boolean;
  /** The decisions in the file that analysis.matches names. */
  userMatches?: readonly UserMatch[];
}

/** By check name. */
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
  /** Lakes of one pipeline, each of some of the datasets, by their names. `budget`: percent of it. */
  shards?: Record<string, { datasets: bigint[]; budget?: number | undefined }> | undefined;
  mode: 'auto' | RunMode;
  feedOverlap: number;
  products: 'none' | 'all';
  history: 'feed' | 'items' | 'none';
  export: 'ndjson' | 'csv';
  /** Columns of export rows → fields of Item. */
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

/** Limit of the time that a source may stay unseen: seconds (0 is for ever), or a multiple of its usual interval. */
export type StaleAfter = { seconds: number } | { intervals: number };

interface AnalysisSettings {
  /** Days of price_spread_daily that are kept; 0 for none. */
  daily: number;
  fx?: string | undefined;
  fxBase: string;
  staleAfter: StaleAfter;
  timeZone: string;
  matches?: string | undefined;
  /** Words of titles and conditions, by what they mean. */
  words: Record<'used' | 'refurbished' | 'opened', string[]>;
  attributes: AttributeNames;
  /** Settings of websites, by their ids. */
  shops: Record<string, { attributes: AttributeNames; timeZone?: string | undefined; region?: string | undefined }>;
}

/** Attributes by their meaning, and values of those of availability. */
interface AttributeNames {
  availability?: string[] | undefined;
  shippingCost?: string[] | undefined;
  condition?: string[] | undefined;
  regularPrice?: string[] | undefined;
  quantity?: string[] | undefined;
  unit?: string[] | undefined;
  values: Record<'in stock' | 'out of stock' | 'on order', string[]>;
}

/** A decision of the user that two products belong together, or do not. */
export interface UserMatch {
  productId: string;
  /** The product that stands for all that belong together: the first one, if possible one with a GTIN. */
  otherId: string;
  isMatch: boolean;
}
