import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PricelakeError } from '../errors/errors.js';
import { TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { type Attribution, writeAttributions } from './attribution.js';
import { writeCatalog } from './catalog.js';
import { writeDurably } from './durable.js';
import { findForeignChanges, refuseForeignChanges } from './foreign-changes.js';
import { ignoreMissing, type Lake } from './layout.js';
import { readTable } from './read.js';
import { explainSystemFault } from './system-fault.js';
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

/** The run that publishes. */
export interface Publication {
  pipeline: string;
  runId: string;
  runNumber: bigint;
  cursor: bigint | null;
  at: Date;
  attributions: Attribution[];
}

/**
 * Writes `catalog.sql`, `ATTRIBUTION.md` and then `lake.json`, all derived from the tables' logs: the same state and
 * run give the same bytes, and files that would not change are not written.
 * @throws PricelakeError `disk_full`
 */
export async function publishPointer(lake: Lake, publication: Publication): Promise<void> {
  await explainSystemFault(lake.root, async () => {
    await writeDurably(lake, join(lake.root, 'ATTRIBUTION.md'), writeAttributions(publication.attributions));
    await writePublished(lake, publication, await readPointer(lake));
  });
}

type RunFacts = Omit<Publication, 'attributions'>;

async function writePublished(lake: Lake, facts: RunFacts, before: Pointer | undefined): Promise<void> {
  const states: TableState[] = [];
  for (const table of TABLE_NAMES) states.push(await readTable(lake, table));
  // lake.json names versions that runs left behind, and vouches for them.
  refuseForeignChanges(lake, await findForeignChanges(lake, states, before));
  await writeDurably(lake, join(lake.root, 'catalog.sql'), writeCatalog(states));
  await writeDurably(lake, join(lake.root, 'lake.json'), writePointer(facts, states));
}

/**
 * Rewrites `catalog.sql` and `lake.json` after a commit that changed files and no rows, or that a crash cut off from
 * them: the facts of the newest run stay. Nothing before the first publication.
 */
export async function refreshPointer(lake: Lake): Promise<void> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) return;
  await writePublished(lake, pointer, pointer);
}

/**
 * Reads `lake.json`; undefined before the first publication.
 * @throws PricelakeError `lake_invalid` when it is damaged, or a newer version wrote it.
 */
export async function readPointer(lake: Lake): Promise<Pointer | undefined> {
  const path = join(lake.root, 'lake.json');
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    const pointer = JSON.parse(text);
    refuseUnknownTables(path, pointer?.tables);
    return pointerSchema.parse(pointer);
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    throw new PricelakeError(
      'lake_invalid',
      `${path}: damaged`,
      { hint: '`pricelake rebuild` rewrites it, and checks the tables that it names.' },
      { cause },
    );
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

function writePointer(publication: RunFacts, states: TableState[]): string {
  const { pipeline, runId, runNumber, cursor, at } = publication;
  const tables = states.filter((state) => state.version >= 0n).map((state) => [state.table, describeTable(state)]);
  const pointer = {
    format: 'pricelake',
    version: 1,
    pipeline,
    runId,
    runNumber: Number(runNumber),
    // A feed cursor may exceed 2^53: as text it survives every JSON parser.
    cursor: cursor === null ? null : String(cursor),
    at: at.toISOString(),
    tables: Object.fromEntries(tables) as Record<TableName, unknown>,
  };
  return `${JSON.stringify(pointer, null, 1)}\n`;
}

function describeTable(state: TableState) {
  return {
    version: Number(state.version),
    rows: Number(state.files.reduce((sum, file) => sum + file.rows, 0n)),
    files: state.files.map((file) => ({
      path: `${state.table}/${file.path}`,
      rows: Number(file.rows),
      bytes: file.bytes,
      sha256: file.sha256,
    })),
  };
}
