import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { hasSystemCode, PricelakeError } from '../errors/errors.js';
import { explainReadFault, isAddress } from '../errors/path-fault.js';
import { makeFolder, writeDurably } from './durable.js';
import { ignoreMissing, type Lake, PRIVATE_FOLDER, privatePath } from './layout.js';
import { refuseLinks } from './refuse-links.js';

export type { Lake } from './layout.js';

/** What an operating system leaves in a folder that is otherwise empty. */
const HARMLESS = new Set(['lost+found', '.DS_Store', PRIVATE_FOLDER]);

const MARKER = '{"format":"pricelake","version":1}\n';
const formatSchema = z.strictObject({ format: z.literal('pricelake'), version: z.literal(1) });

/**
 * Opens a lake, or creates it where `path` is missing or empty.
 * @throws PricelakeError `lake_invalid` when the folder holds something else (it is left untouched), when it is of
 * another format version, or when it is missing and `create` is false.
 */
export async function openLake(path: string, options: { create: boolean }): Promise<Lake> {
  const lake = locateLake(path);
  if (options.create) await refuseLinks(lake);
  const marker = await readMarker(lake);
  if (marker === undefined) {
    if (!options.create) {
      throw new PricelakeError('lake_invalid', `${lake.root}: there is no lake here`, {
        hint: 'Check the path, or create the lake with `pricelake sync`.',
      });
    }
    await refuseForeignFolder(lake);
    await writeMarker(lake);
  } else if (!formatSchema.safeParse(marker).success) {
    throw new PricelakeError(
      'lake_invalid',
      `${privatePath(lake, 'format.json')}: ${JSON.stringify(marker)} is not a format that this version of pricelake reads`,
      { hint: 'Use the version of pricelake that wrote the lake, or a newer one.' },
    );
  }
  if (options.create) await makeFolder(privatePath(lake, 'tmp'));
  return lake;
}

/** @throws PricelakeError `usage` for an address where a folder belongs */
function locateLake(path: string): Lake {
  if (!isAddress(path)) return { root: resolve(path) };
  throw new PricelakeError('usage', `${path}: a lake is a folder of this machine, not an address`, {
    hint: 'Give a folder as lake.path or --lake. A bucket goes to lake.remote; commands that read take it with --remote.',
  });
}

export async function writeMarker(lake: Lake): Promise<void> {
  await makeFolder(privatePath(lake, 'tmp'));
  await writeDurably(lake, privatePath(lake, 'format.json'), MARKER);
}

/**
 * Opens a lake also where its marker is damaged or gone, as long as runs have landed in it. Nothing is written.
 * @throws PricelakeError `lake_invalid` as openLake does for everything else
 */
export async function openDamagedLake(path: string): Promise<{ lake: Lake; damage: string | undefined }> {
  const lake = locateLake(path);
  try {
    return { lake: await openLake(path, { create: false }), damage: undefined };
  } catch (error) {
    if (!(error instanceof PricelakeError) || !(await isMarkerDamaged(lake)) || !(await hasLandings(lake))) throw error;
    const file = privatePath(lake, 'format.json');
    return { lake, damage: error.message.startsWith(file) ? error.message : `${file}: missing` };
  }
}

/** False for the marker of another format version, which is in order. */
async function isMarkerDamaged(lake: Lake): Promise<boolean> {
  const marker = (await readMarker(lake).catch(() => undefined)) as { format?: unknown; version?: unknown } | undefined;
  return marker?.format !== 'pricelake' || typeof marker.version !== 'number';
}

async function hasLandings(lake: Lake): Promise<boolean> {
  const names = (await readdir(privatePath(lake, 'landing')).catch(ignoreMissing)) ?? [];
  return names.some((name) => /^\d{6,}-/.test(name));
}

/**
 * The lake at `path`, also where it is still to be created; nothing is written.
 * @throws PricelakeError `lake_invalid` when the folder holds something else or is of another format version.
 */
export async function findLake(path: string): Promise<Lake> {
  const lake = locateLake(path);
  if ((await readMarker(lake)) !== undefined) return openLake(path, { create: false });
  await refuseForeignFolder(lake);
  return lake;
}

async function readMarker(lake: Lake): Promise<unknown> {
  const path = privatePath(lake, 'format.json');
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    const hint = '`pricelake rebuild` rewrites it, and makes the tables from the kept raw bytes.';
    if (!(cause instanceof SyntaxError)) return explainReadFault(path, hint)(cause as NodeJS.ErrnoException);
    throw new PricelakeError('lake_invalid', `${path}: not JSON`, { hint }, { cause });
  }
}

/** A folder without our marker may only hold the beginning of one: a crash can come before the marker. */
async function refuseForeignFolder(lake: Lake): Promise<void> {
  const info = await stat(lake.root).catch(ignoreMissing);
  if (info === undefined) return;
  const foreign = info.isDirectory() ? await findForeignEntry(lake) : lake.root;
  if (foreign !== undefined) {
    throw new PricelakeError('lake_invalid', `${lake.root}: not a lake, it holds ${foreign}; it was left untouched`, {
      hint: 'Give an empty or a new folder as lake.path.',
    });
  }
}

async function findForeignEntry(lake: Lake): Promise<string | undefined> {
  const foreign = (await readdir(lake.root)).find((name) => !HARMLESS.has(name));
  if (foreign !== undefined) return foreign;
  const inside = await readdir(privatePath(lake)).catch(ignoreMissing);
  const unknown = inside?.find((name) => name !== 'tmp');
  return unknown === undefined ? undefined : join(PRIVATE_FOLDER, unknown);
}
