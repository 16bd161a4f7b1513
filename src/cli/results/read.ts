import * as z from 'zod';
import { anyValue, int64, raw, row, time } from './kinds.js';

const bound = z.object({ rule: z.string(), allowed: int64, left: int64 });
const severity = z.enum(['gate', 'error', 'warn']);
const landed = z.object({ exportRows: int64, changes: int64, items: int64 });

const openRun = z.object({
  runId: z.string(),
  runNumber: int64,
  begunAt: z.string(),
  state: z.enum(['running', 'held', 'interrupted']),
  step: z.string(),
  checks: z.array(z.string()),
  tries: z.number(),
  calls: z.number(),
  landed,
});

/** `status`: what the lake holds, what waits, and what is left of the month. */
export const statusResult = z.object({
  lake: z.string(),
  published: z.boolean(),
  pipeline: z.string().optional(),
  runId: z.string().optional(),
  runNumber: int64.optional(),
  cursor: int64.nullish(),
  at: time.optional(),
  upToDateAt: time.optional(),
  idleRuns: z.number(),
  listing: z.object({ run: int64, unknown: int64, reason: z.string() }).optional(),
  tables: z.array(z.object({ table: z.string(), version: int64, rows: int64, files: z.number(), bytes: z.number() })),
  bytes: z.object({ tables: z.number(), superseded: z.number(), landing: z.number() }),
  lock: z.looseObject({}).optional(),
  open: openRun.optional(),
  webhooks: z.object({ waiting: z.number(), setAside: z.number() }),
  budget: z
    .object({
      seenAt: time,
      plan: z.string(),
      status: z.string().nullish(),
      calls: bound.optional(),
      exportRows: bound.optional(),
      resetsAt: time.optional(),
    })
    .optional(),
  brokenExports: z.array(z.looseObject({ name: z.string(), rows: int64, at: time, reason: z.string() })),
  lag: z
    .object({ newestChange: int64.optional(), newestAt: time.optional(), isBehind: z.boolean(), seconds: z.number() })
    .optional(),
  tries: z.array(z.looseObject({})),
  runs: z.array(row),
  checks: z.array(row),
  datasets: anyValue,
});

/** `check`: every check with what it found. */
export const checkResult = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      severity,
      passed: z.boolean(),
      violations: int64,
      description: z.string(),
      sample: raw(z.array(row)),
      seconds: z.number(),
    }),
  ),
});
