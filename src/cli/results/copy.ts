import * as z from 'zod';
import { int64, raw, time } from './kinds.js';

const counts = z.object({ calls: int64.optional(), exportRows: int64.optional() });

/** `plan`: the next run's work and cost. */
export const planResult = z.object({
  lake: z.string(),
  mode: z.string(),
  reason: z.string(),
  added: z.array(int64).optional(),
  calls: z.number(),
  exportRows: int64,
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
  looked: z.number(),
  unfinished: z.object({ runId: z.string(), held: z.array(z.string()) }).optional(),
});

const json = raw(z.unknown());

/** `sync`: the run's row of the ledger, with its checks. */
export const syncResult = z.looseObject({
  published: z.boolean(),
  resumed: z.boolean(),
  lake: z.string(),
  run_id: z.string(),
  run_number: int64,
  mode: z.string(),
  calls: int64,
  export_rows: int64,
  overage_blocks: int64,
  cursor_from: z.string().nullable(),
  cursor_to: z.string().nullable(),
  caught_up: z.boolean(),
  received: int64,
  written: int64,
  rejected: int64,
  deduplicated: int64,
  difference_columns: json,
  sample_differences: json,
  product_differences: json,
  facet_differences: json,
  schema_drift: json,
  checks: z.array(z.object({ name: z.string(), severity: z.string(), violations: int64, let_through: z.boolean() })),
});
