import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PricelakeError } from '../errors/errors.js';
import { explainReadFault } from '../errors/path-fault.js';
import { findDataPathFault, quotePath } from '../io/inner-path.js';
import { TABLE_NAMES } from '../tables/table.js';
import type { Lake } from './layout.js';
import { PRICELAKE_VERSION } from './version.js';

const REBUILD_HINT = '`pricelake rebuild` rewrites it, and checks the tables that it names.';

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
  const text = await readFile(path, 'utf8').catch(explainReadFault(path, REBUILD_HINT));
  if (text === undefined) return undefined;
  try {
    const json = JSON.parse(text);
    refuseUnknownTables(path, json?.tables);
    const pointer = pointerSchema.parse(json);
    refuseOuterFiles(path, pointer);
    return pointer;
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    throw new PricelakeError('lake_invalid', `${path}: damaged`, { hint: REBUILD_HINT }, { cause });
  }
}

/** A rebuild reads these files, and other programs do. */
function refuseOuterFiles(where: string, { tables }: Pointer): void {
  for (const [table, { files }] of Object.entries(tables)) {
    for (const { path } of files) {
      const isIts = path.startsWith(`${table}/`);
      const fault = isIts ? findDataPathFault(path.slice(table.length + 1)) : `is not in table ${table}`;
      if (fault === undefined) continue;
      const what = `${where}: damaged: the path ${quotePath(path)} ${fault}`;
      throw new PricelakeError('lake_invalid', what, { hint: REBUILD_HINT });
    }
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
