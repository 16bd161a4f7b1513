import * as z from 'zod';
import { anyValue, int64, raw, row, time } from './kinds.js';

const bound = z.object({ rule: z.string(), allowed: int64, left: int64 });
const severity = z.enum(['gate', 'error', 'warn']);
const landed = z.object({ exportRows: int64, changes: int64, items: int64 });

const openRun = z.object({
  runId: z.string(),
  runNumber: int64,
  begunAt: z.string(),
  state: z.enum(['running', 'held', 'landed', 'interrupted']),
  step: z.string(),
  checks: z.array(z.string()),
  tries: z.number(),
  calls: z.number(),
  landed,
});

/** The result of `status`. It describes the lake's contents, pending work, and the quota that is left this month. */
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
  lock: z.object({ pid: z.number(), host: z.string(), since: z.string(), beatAt: time, alive: z.boolean() }).optional(),
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
  brokenExports: z.array(
    z.object({
      ...{ name: z.string(), runs: z.number(), rows: int64, at: time, reason: z.string() },
      /** `format` is set if the export's format couldn't be read. Such an export has no `retryAt`. */
      ...{ format: z.string().optional(), retryAt: time.optional() },
    }),
  ),
  lag: z
    .object({ newestChange: int64.optional(), newestAt: time.optional(), isBehind: z.boolean(), seconds: z.number() })
    .optional(),
  tries: z.array(
    z.object({
      runNumber: int64,
      begunAt: z.string(),
      endedAt: z.string(),
      steps: z.record(z.string(), z.number()),
      fault: z
        .object({ step: z.string(), code: z.string(), message: z.string(), hint: z.string().optional() })
        .optional(),
    }),
  ),
  runs: z.array(row),
  checks: z.array(row),
  datasets: anyValue,
});

export const checkList = z.array(
  z.object({
    name: z.string(),
    severity,
    passed: z.boolean(),
    violations: int64,
    description: z.string(),
    sample: raw(z.array(row)),
    seconds: z.number(),
  }),
);

export const checkResult = z.object({ checks: checkList });

const credits = z.array(z.string());
/** The rows, if they are printed as part of the JSON object. `--format` has no effect on them. */
const rows = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(row),
  rowCount: int64,
  attribution: credits,
});
/** The report on rows that were written to a file. */
const written = z.object({
  rows: int64,
  file: z.string(),
  format: z.string(),
  attribution: credits,
  metadata: z.string().optional(),
});

/** The result of `spread`. The rows are in the JSON object or in a file. */
export const rowsResult = z.union([rows, written]);

const counted = {
  table: z.string(),
  versions: z.object({ from: int64, to: int64 }),
  runs: z.array(z.string()),
};

/**
 * The result of `deliver changes`. It includes the rows, and the two versions of the table between which they changed.
 */
export const changesResult = z.union([
  z.object({ ...rows.shape, ...counted }),
  z.object({ ...written.shape, ...counted }),
]);

/**
 * A line of the price list. With `--compliance`, it also has a shop and a period. With `--suggest`, it has no alarm.
 */
const watchedRow = z
  .object({
    alarms: int64.nullable(),
    sure_alarms: int64.nullable(),
    alarm: z.enum(['sure', 'unsure']).nullable(),
    unsure_because: z.array(z.string()),
  })
  .partial()
  .catchall(anyValue);

/** The result of `watch`. The complete table is in the JSON object or in a file. */
export const watchResult = z.union([z.object({ rows: z.array(watchedRow), attribution: credits }), written]);

/**
 * The result of `query`, which is usually rows. With `--explain-source`, it describes what the rows depend on. With
 * `--analysis` and no name, it lists the analyses.
 */
export const queryResult = z.union([
  rows,
  written,
  z.object({
    source: z.object({
      pricelake: z.string(),
      duckdb: z.string(),
      run: int64.nullable(),
      versions: z.record(z.string(), int64),
      settings: z.record(z.string(), z.string()),
      files: z.record(z.string(), z.string()),
      sql: z.string(),
    }),
  }),
  z.object({
    analyses: z.array(
      z.object({
        name: z.string(),
        question: z.string(),
        variables: z.array(
          z.object({
            name: z.string(),
            kind: z.string(),
            choices: z.array(z.string()),
            from: z.number().optional(),
            to: z.number().optional(),
            default: z.string().optional(),
            isRequired: z.boolean(),
            about: z.string(),
            type: z.string(),
          }),
        ),
      }),
    ),
  }),
]);

export const reportResult = z.object({
  output: z.string(),
  bytes: z.number(),
  generatedAt: time,
  listed: int64,
  newestChange: time.nullable(),
  lastRunAt: time.nullable(),
  caughtUp: z.boolean().nullable(),
  listingUnknown: int64.nullable(),
  currentUpTo: time.nullable(),
  addsUp: z.boolean().nullable(),
  failedChecks: z.array(z.string()),
  spreads: int64,
  medianSpreadPct: z.number().nullable(),
  products: z.array(z.string()),
  attribution: credits,
});

/** The JSON object that a server prints when it starts listening. */
export const serverResult = z.object({ url: z.string() });
export const schemaResult = z.object({
  tables: z.array(z.string()),
  format: z.string(),
  file: z.string().optional(),
  text: z.string().optional(),
});
export const completionResult = z.object({ shell: z.string(), script: z.string() });
export const helpResult = z.object({ topic: z.string(), text: z.string() });
