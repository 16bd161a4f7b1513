import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PricelakeError } from '../errors/errors.js';
import { explainReadFault } from '../errors/read-fault.js';
import { TABLE_NAMES } from '../tables/table.js';
import type { Lake } from './layout.js';
import { PRICELAKE_VERSION } from './version.js';

const digits = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt);
const integer = z.number().int().transform(BigInt);

const pointerSchema = z.object({
  format: z.literal('pricelake'),
  version: z.literal(1),
  pipeline: z.string(),
  runId: z.string(),
  runNumber: integer,
  /** Null while the lake has none: a plan without the feed. */
  cursor: digits.nullable(),
  at: z.iso.datetime().transform((text) => new Date(text)),
  tables: z.partialRecord(
    z.enum(TABLE_NAMES),
    z.object({
      version: integer,
      rows: integer,
      files: z.array(
        z.object({ path: z.string(), rows: integer, bytes: z.number().int(), sha256: z.string().optional() }),
      ),
    }),
  ),
});

/** `lake.json`: what the newest run published. Paths of files are relative to the lake. */
export type Pointer = z.infer<typeof pointerSchema>;

/**
 * Reads `lake.json`; undefined before the first publication.
 * @throws PricelakeError `lake_invalid` when it is damaged, or a newer version wrote it.
 */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  const path = join(lake.root, 'lake.json');
  const hint = '`pricelake rebuild` rewrites it, and checks the tables that it names.';
  const text = await readFile(path, 'utf8').catch(explainReadFault(path, hint));
  if (text === undefined) return undefined;
  try {
    const pointer = JSON.parse(text);
    refuseUnknownTables(path, pointer?.tables);
    return pointerSchema.parse(pointer);
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    throw new PricelakeError('lake_invalid', `${path}: damaged`, { hint }, { cause });
  }
}

function refuseUnknownTables(path: string, tables: object | undefined): void {
  const unknown = Object.keys(tables ?? {}).filter((name) => !(TABLE_NAMES as readonly string[]).includes(name));
  if (unknown.length === 0) return;
  throw new PricelakeError(
    'lake_invalid',
    `${path}: a newer version wrote it; pricelake ${PRICELAKE_VERSION} does not know table ${unknown.join(', ')}`,
    { hint: 'Use the version that wrote the lake, or a newer one. Nothing was changed.', newer: true },
  );
}
