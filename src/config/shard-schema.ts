import * as z from 'zod';
import type { DatasetSelection } from '../tables/table.js';
import { mapping } from './offer-schema.js';

const DATASETS = 'must be all, or a list of dataset ids such as [12, 15]';
const DATASET_LIST = 'must be a list of dataset ids such as [12, 15]';
const MAX_INT64 = 2n ** 63n - 1n;

/** The id of a dataset: a number, or text if it comes from a variable or exceeds 2^53. */
const datasetId = z
  .union([z.number().int().nonnegative(), z.string().regex(/^\d{1,19}$/)], DATASETS)
  .transform((value) => BigInt(value))
  .refine((id) => id <= MAX_INT64, DATASETS);

export const datasets = z
  .union([z.literal('all'), z.array(datasetId).min(1, DATASETS)], DATASETS)
  .refine((value) => value === 'all' || new Set(value).size === value.length, 'must name each dataset once')
  .transform((value): DatasetSelection => (value === 'all' ? value : [...value].sort((a, b) => (a < b ? -1 : 1))));

const SHARDS = 'must map names of shards to their datasets, such as { europe: { datasets: [12, 15] } }';
const SHARD_NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const SHARE = 'must be a share of the budget, such as 60%';

/** The shards, by name. Each shard has its own lake, for some of the datasets. */
export const shards = z
  .record(
    z.string(),
    mapping({
      datasets: z.array(datasetId, DATASET_LIST).min(1, DATASET_LIST),
      /** The percentage of the budget that this shard may use. */
      budget: z
        .string(SHARE)
        .regex(/^(100|[1-9]?\d(\.\d+)?)%$/, SHARE)
        .transform((text) => Number.parseFloat(text))
        .optional(),
    }),
    SHARDS,
  )
  .superRefine((all, context) => {
    const seen = new Set<bigint>();
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    for (const [name, { datasets }] of Object.entries(all)) {
      if (!SHARD_NAME.test(name)) refuse([name], 'must have a name of up to 40 lowercase letters, digits, "_" and "-"');
      for (const id of datasets) {
        if (seen.has(id)) refuse([name, 'datasets'], `must not include dataset ${id}, which belongs to another shard`);
        seen.add(id);
      }
    }
    const percent = Object.values(all).reduce((sum, { budget = 0 }) => sum + budget, 0);
    const isOpen = Object.values(all).some(({ budget }) => budget === undefined);
    if (percent > 100) refuse([], 'must have budgets that add up to at most 100%');
    else if (percent === 100 && isOpen) refuse([], 'must leave part of the budget for the shards without a budget');
  });

export type Shards = z.output<typeof shards>;
