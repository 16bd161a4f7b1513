import * as z from 'zod';
import { int64 } from './kinds.js';

/** The result of `verify`. For each proof, it states how much was checked and what was found. */
export const verifyResult = z.object({
  lake: z.string(),
  proofs: z.array(
    z.object({
      name: z.string(),
      claims: z.string(),
      next: z.string().optional(),
      looked: int64,
      of: z.string(),
      found: z.number(),
      findings: z.array(z.object({ table: z.string().optional(), file: z.string().optional(), what: z.string() })),
      notes: z.array(z.string()),
    }),
  ),
});

export const compactResult = z.object({
  lake: z.string(),
  tables: z.array(
    z.object({
      table: z.string(),
      version: int64,
      filesBefore: z.number(),
      filesAfter: z.number(),
      rows: int64,
    }),
  ),
});

export const rebuildResult = z.object({
  lake: z.string(),
  runs: z.array(z.string()),
  tables: z.array(z.object({ table: z.string(), version: int64, rowsBefore: int64.nullable(), rowsAfter: int64 })),
  damage: z.array(z.string()),
  carried: z.array(z.string()),
  lost: z.array(z.string()),
});

export const restoreResult = z.object({
  lake: z.string(),
  remote: z.string(),
  files: z.number(),
  bytes: z.number(),
});

const file = z.object({
  url: z.string(),
  rows: int64,
  bytes: z.number(),
  sha256: z.string().optional(),
  partition: z.record(z.string(), z.string().nullable()),
});
const wholeFile = z.object({ ...file.shape, missing_columns: z.array(z.string()) });

/**
 * The result of `deliver manifest`. It lists the files of a version, or the files added since a version. If the user
 * chose the format of a loader, it also includes the text for the loader.
 */
export const manifestResult = z.object({
  table: z.string(),
  version: int64,
  since: int64.optional(),
  commits: z
    .array(
      z.object({
        version: int64,
        at: z.string().optional(),
        run_id: z.string().optional(),
        operation: z.string(),
        changes_rows: z.boolean(),
        added: z.array(file),
        removed: z.array(z.object({ url: z.string() })),
      }),
    )
    .optional(),
  rows: int64,
  bytes: z.number(),
  files: z.array(wholeFile),
  attribution: z.array(
    z.object({ site_id: int64, name: z.string().nullable(), host: z.string().nullable(), attribution: z.string() }),
  ),
  format: z.string(),
  file: z.string().optional(),
  text: z.string().optional(),
});

const loadedTable = z.object({ table: z.string(), since: int64.nullable(), run: int64, rows: int64 });

/** The result of `deliver load`. It contains the SQL statements or, with `--execute`, the number of loaded rows. */
export const loadResult = z.union([
  z.object({
    warehouse: z.string(),
    file: z.string().optional(),
    text: z.string().optional(),
    since: int64.nullable(),
    run: int64.optional(),
    tables: z.array(z.object({ table: z.string(), rows: z.string(), files: z.number() })),
  }),
  z.object({ warehouse: z.string(), run: int64.optional(), tables: z.array(loadedTable) }),
]);

export const webhookResult = z.object({ url: z.string(), lake: z.string() });

/** The JSON object that any command prints as its last line if it fails. */
export const errorResult = z.object({
  ok: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
    docsUrl: z.string().optional(),
    upgradeUrl: z.string().optional(),
    nextRunAt: z.date().optional(),
    facts: z.record(z.string(), z.unknown()).optional(),
  }),
});
