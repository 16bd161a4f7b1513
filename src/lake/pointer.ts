import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { findDataPathFault, quotePath } from '../io/inner-path.js';
import { explainReadFault } from '../io/path-fault.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';

const REBUILD_HINT = '`pricelake lake rebuild` rewrites it, and checks the tables that it names.';

export const POINTER_FILE = 'lake.json';

const digits = z.string().regex(/^-?\d+$/);
const integer = z.number().int().transform(BigInt);

const pointerSchema = z.object({
  format: z.literal('pricelake'),
  version: z.literal(1),
  pipeline: z.string(),
  runId: z.string(),
  runNumber: integer,
  /** Null if the lake has no cursor, for example because the plan doesn't include the feed. */
  cursor: digits.transform(BigInt).nullable(),
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

/** The content of `lake.json`: the versions and files that the newest run published. Paths are relative to the lake. */
export type Pointer = z.infer<typeof pointerSchema>;

/**
 * Reads `lake.json`. Returns undefined before the first publication.
 * @throws PricelakeError `lake_invalid` if the file is damaged or has another format
 */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  const path = join(lake.root, POINTER_FILE);
  const text = await readFile(path, 'utf8').catch(explainReadFault(path, REBUILD_HINT));
  return text === undefined ? undefined : parsePointer(path, text);
}

/** Parses the text of `lake.json`. @param where the file's name in messages @throws PricelakeError `lake_invalid` */
export function parsePointer(where: string, text: string): Pointer {
  try {
    const pointer = pointerSchema.parse(JSON.parse(text));
    refuseOuterFiles(where, pointer);
    return pointer;
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    const what = `${where}: the file is damaged or has another format`;
    throw new PricelakeError('lake_invalid', what, { hint: REBUILD_HINT }, { cause });
  }
}

/** Throws if a path leads out of its table, because a rebuild and other programs read these files. */
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

interface Logged {
  table: TableName;
  version: bigint;
  /** The paths of the table's files, within its folder. */
  paths: Iterable<string>;
}

/** Describes why a table's log doesn't match lake.json. Returns undefined if it matches, or if the log is newer. */
export function explainBehind(lake: Lake, logged: Logged, pointer: Pointer | undefined): string | undefined {
  const published = pointer?.tables[logged.table];
  if (published === undefined || published.version < logged.version) return undefined;
  const where = tablePath(lake, logged.table);
  if (published.version > logged.version) {
    return `${where}: its log ends at version ${logged.version}, but lake.json lists version ${published.version}`;
  }
  const named = new Set(published.files.map(({ path }) => path));
  const paths = [...logged.paths].map((path) => `${logged.table}/${path}`);
  if (paths.length === named.size && paths.every((path) => named.has(path))) return undefined;
  return `${where}: version ${logged.version} of its log has ${paths.length} files, but lake.json lists ${named.size}, or different files`;
}
