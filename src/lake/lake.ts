import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../io/durable.js';
import { hasSystemCode, ignoreMissing, PricelakeError } from '../io/errors.js';
import { explainReadFault, isAddress, refuseLink } from '../io/path-fault.js';
import { type Lake, PRIVATE_FOLDER, privatePath } from '../tables/layout.js';
import { TABLE_NAMES } from '../tables/table.js';
import { writeDurably } from './durable.js';

/** Names that a folder without a lake may contain. The system or an interrupted `openLake` creates these files. */
const HARMLESS = new Set(['lost+found', '.DS_Store', PRIVATE_FOLDER]);

/** The version of the lake format. Raise it when this code can't read older lakes. `rebuild` recreates their tables. */
const FORMAT_VERSION = 3;
/** The text of the marker file, `_pricelake/format.json`. */
export const MARKER = `{"format":"pricelake","version":${FORMAT_VERSION}}\n`;
const markerSchema = z.strictObject({ format: z.literal('pricelake'), version: z.int() });

/**
 * Opens a lake. If `create` is true, creates a lake in a missing or empty folder.
 * @throws PricelakeError `lake_invalid` if the folder contains other files or a lake of another format version, or if
 * `create` is false and there is no lake
 */
export async function openLake(path: string, options: { create: boolean }): Promise<Lake> {
  const lake = locateLake(path);
  if (options.create) await refuseLinks(lake);
  const marker = await readMarker(lake);
  const fault = marker === undefined ? undefined : explainMarker(lake, marker);
  if (fault !== undefined) throw fault;
  if (marker === undefined) {
    const hint = 'Check the path, or create the lake with `pricelake sync`.';
    if (!options.create) throw new PricelakeError('lake_invalid', `${lake.root}: there is no lake here`, { hint });
    await refuseOtherFolder(lake);
    await writeMarker(lake);
  } else if (options.create) await makeFolder(privatePath(lake, 'tmp'));
  return lake;
}

const REBUILD_HINT = '`pricelake lake rebuild` rewrites it, and rebuilds the tables from the saved raw data.';

/** Returns an error if the marker is invalid or names an unsupported version. */
function explainMarker(lake: Lake, marker: unknown): PricelakeError | undefined {
  const version = markerSchema.safeParse(marker).data?.version;
  if (version === FORMAT_VERSION) return undefined;
  const file = privatePath(lake, 'format.json');
  if (version === undefined) {
    const what = `${file}: ${JSON.stringify(marker)} is not a lake format`;
    return new PricelakeError('lake_invalid', what, { hint: REBUILD_HINT });
  }
  const what = `${file}: the lake has format ${version}, but this version of pricelake reads format ${FORMAT_VERSION}`;
  const hint = `${REBUILD_HINT} Or use the version that wrote the lake.`;
  return new PricelakeError('lake_invalid', what, { hint, version });
}

/** Resolves the path of a lake's folder. @throws PricelakeError `usage` if the path is the address of a remote */
export function locateLake(path: string): Lake {
  if (!isAddress(path)) return { root: resolve(path) };
  throw new PricelakeError('usage', `${path}: a lake is a folder on this machine, not an address`, {
    hint: 'Set lake.path or --lake to a folder. For a bucket, set lake.remote; read-only commands also accept --remote.',
  });
}

export async function writeMarker(lake: Lake): Promise<void> {
  await makeFolder(privatePath(lake, 'tmp'));
  await writeDurably(lake, privatePath(lake, 'format.json'), MARKER);
}

/**
 * Returns the lake at `path`, even if the folder doesn't exist yet. Writes nothing.
 * @throws PricelakeError `lake_invalid` if the folder has other contents or another format version
 */
export async function findLake(path: string): Promise<Lake> {
  const lake = locateLake(path);
  if ((await readMarker(lake)) !== undefined) return openLake(path, { create: false });
  await refuseOtherFolder(lake);
  return lake;
}

/** Reads the marker file. Returns undefined if it is missing and no run has downloaded data to this folder. */
async function readMarker(lake: Lake): Promise<unknown> {
  const path = privatePath(lake, 'format.json');
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const isMissing = hasSystemCode(cause, 'ENOENT', 'ENOTDIR');
    if (isMissing && !(await hasLandings(lake))) return undefined;
    if (!isMissing && !(cause instanceof SyntaxError))
      return explainReadFault(path, REBUILD_HINT)(cause as NodeJS.ErrnoException);
    const what = `${path}: ${isMissing ? 'missing' : 'not JSON'}`;
    throw new PricelakeError('lake_invalid', what, { hint: REBUILD_HINT }, { cause });
  }
}

/** True if runs have downloaded data to this lake. */
export async function hasLandings(lake: Lake): Promise<boolean> {
  const entries = await list(privatePath(lake, 'landing'));
  return entries.some(({ name }) => /^\d{6,}-/.test(name));
}

/** Throws if a folder without a marker contains files that neither the system nor an interrupted `openLake` created. */
async function refuseOtherFolder(lake: Lake): Promise<void> {
  const info = await stat(lake.root).catch(ignoreMissing);
  if (info === undefined) return;
  const other = info.isDirectory() ? await findOtherEntry(lake) : lake.root;
  if (other === undefined) return;
  throw new PricelakeError('lake_invalid', `${lake.root}: not a lake: it contains ${other}; nothing was changed`, {
    hint: 'Set lake.path to an empty or new folder.',
  });
}

async function findOtherEntry(lake: Lake): Promise<string | undefined> {
  const other = (await readdir(lake.root)).find((name) => !HARMLESS.has(name));
  if (other !== undefined) return other;
  const inside = await readdir(privatePath(lake)).catch(ignoreMissing);
  const unknown = inside?.find((name) => name !== 'tmp');
  return unknown === undefined ? undefined : join(PRIVATE_FOLDER, unknown);
}

const OWN: readonly string[] = [PRIVATE_FOLDER, ...TABLE_NAMES];
const FOLDERS = ['tmp', 'staging', 'landing', 'work'];

/**
 * Ensures that a run can't write or delete files outside the lake through a symbolic link.
 * @throws PricelakeError `lake_invalid` if one of the lake's folders is a symbolic link or a file
 */
export async function refuseLinks(lake: Lake): Promise<void> {
  const own = (await list(lake.root)).filter(({ name }) => OWN.includes(name));
  const inside = await list(privatePath(lake));
  const folders = inside.filter((entry) => entry.isDirectory());
  const deeper = await Promise.all(folders.map(({ name }) => list(privatePath(lake, name))));
  const link = [...own, ...inside, ...deeper.flat()].find((entry) => entry.isSymbolicLink());
  if (link !== undefined) throw refuseLink(join(link.parentPath, link.name));
  for (const table of own.filter(({ name }) => name !== PRIVATE_FOLDER)) {
    const log = join(table.parentPath, table.name, '_delta_log');
    if ((await lstat(log).catch(ignoreMissing))?.isSymbolicLink() === true) throw refuseLink(log);
  }
  const file = [...own, ...inside.filter(({ name }) => FOLDERS.includes(name))].find((entry) => !entry.isDirectory());
  if (file === undefined) return;
  throw new PricelakeError('lake_invalid', `${join(file.parentPath, file.name)}: not a folder`, {
    hint: 'Move the file away. pricelake then creates the folder.',
  });
}

async function list(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  });
}
