import * as z from 'zod';
import { type Column, loadTableSchema } from '../../tables/schemas.js';
import { int64, raw, time } from './kinds.js';
import { checkList } from './read.js';

const counts = z.object({ calls: int64.optional(), exportRows: int64.optional() });

/** The work and the cost of the next run. */
export const runPlan = z.object({
  lake: z.string(),
  mode: z.string(),
  reason: z.string(),
  added: z.array(int64).optional(),
  calls: z.number(),
  exportRows: int64,
  exact: z.boolean(),
  steps: z.array(
    z.object({ step: z.string(), calls: z.number(), exportRows: int64, exact: z.boolean(), basis: z.string() }),
  ),
  overageBlocks: int64,
  seconds: z.number().optional(),
  rows: int64,
  earlier: z.object({ run: int64, mode: z.string(), seconds: z.number(), rows: int64 }).optional(),
  benchSeconds: z.number().optional(),
  allowed: counts,
  rest: counts,
  resetsAt: time.optional(),
  plan: z.object({ plan: z.string(), name: z.string(), status: z.string().nullish() }),
  disk: z.object({ needed: z.number(), free: z.number() }),
  looked: z.number(),
  unfinished: z.object({ runId: z.string(), held: z.array(z.string()) }).optional(),
});

/** The result of `plan`. It describes the next run or, with `--all`, the next run of each shard. */
export const planResult = z.union([
  runPlan,
  z.object({
    shards: z.array(
      runPlan.extend({
        shard: z.string(),
        refusal: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    ),
    overlap: z.object({ counted: int64, least: int64, most: int64 }),
  }),
]);

const TYPES: Partial<Record<Column['type'], z.ZodType>> = { BIGINT: int64, DOUBLE: z.number(), BOOLEAN: z.boolean() };
const json = raw(z.unknown());

/** Columns of the runs table that `--json` prints with a different type than their SQL type suggests. */
const OTHERS = {
  ...{ cursor_from: z.string().nullable(), cursor_to: z.string().nullable(), difference_columns: json },
  ...{ sample_differences: json, product_differences: json, facet_differences: json, schema_drift: json },
};

function readLedger(): Record<string, z.ZodType> {
  const columns = loadTableSchema('runs').columns.map(({ name, type, nullable }) => {
    const known = TYPES[type] ?? z.string();
    return [name, nullable ? known.nullable() : known] as const;
  });
  return { ...Object.fromEntries(columns), ...OTHERS };
}

/** The result of `sync`. It consists of the run's row in the runs table and the results of the checks. */
export const runResult = z.object({
  ...readLedger(),
  published: z.boolean(),
  resumed: z.boolean(),
  lake: z.string(),
  histories: z.object({ asked: z.number(), left: z.number(), run_id: z.string() }).optional(),
  checks: z.array(z.object({ name: z.string(), severity: z.string(), violations: int64, let_through: z.boolean() })),
});

const landResult = z.object({
  landed: z.boolean(),
  resumed: z.boolean(),
  folder: z.string(),
  rows: int64,
  bytes: z.number(),
  calls: z.number(),
  run_id: z.string(),
  run_number: int64,
  lake: z.string(),
});

const backfillResult = z.object({
  ...runResult.shape,
  items_chosen: z.number(),
  histories_read: z.number(),
});

export const syncResult = z.union([runResult, landResult, backfillResult]);

export const initResult = z.object({ file: z.string(), lake: z.string() });

export const doctorResult = z.object({
  findings: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['ok', 'warn', 'failed']),
      found: z.string(),
      next: z.string().optional(),
    }),
  ),
});

export const demoResult = z.object({
  runs: z.array(runResult),
  checks: checkList,
  lake: z.string().optional(),
  report: z.string().optional(),
});

export const advanceResult = z.object({
  changes: z.number(),
  new: z.number(),
  changed: z.number(),
  removed: z.number(),
  relisted: z.number(),
  now: z.string(),
});
export const sandboxResult = z.object({ baseUrl: z.string(), keys: z.record(z.string(), z.string()) });
