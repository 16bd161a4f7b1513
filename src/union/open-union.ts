import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { listDerived } from '../analyze/derived-tables.js';
import { makeFolder } from '../io/durable.js';
import { hasSystemCode, ignoreMissing } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import { removeBusyFolder } from '../io/temporary-folder.js';
import { explainFileFault, isLostFile } from '../lake/file-fault.js';
import { openSession } from '../lake/session.js';
import type { Lake } from '../tables/layout.js';
import { type Member, nameVersions, readMembers } from './members.js';
import { readUnionQuery, UNION_QUERIES } from './queries.js';
import { writeUnion } from './write-union.js';

interface UnionOptions {
  /** The cache folder. Its folder `unions` contains one union for each combination of versions of the lakes. */
  cache: string;
  io: Pick<Io, 'log' | 'now'>;
  signal: AbortSignal;
}

/** The maximum number of attempts to read the lakes. An attempt fails if a run replaces files during the attempt. */
const TRIES = 3;
/** An outdated union is kept for this many milliseconds, because a command may still be reading it. */
const KEPT_MS = 3_600_000;
/** A union is removed if it hasn't been used for this many milliseconds. */
const UNUSED_MS = 7 * 24 * KEPT_MS;

/**
 * Combines several lakes of one service into one lake in the cache, which contains each listing once. Writes a new
 * combined lake only if the cache has none for the lakes' current versions. Doesn't change the given lakes.
 * @throws PricelakeError `usage` or `lake_invalid` like `readMembers`; `unavailable` if runs keep replacing files
 */
export async function openUnion(lakes: readonly Lake[], options: UnionOptions): Promise<Lake> {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await findOrWrite(await readMembers(lakes), options);
    } catch (error) {
      if (left === 0 || !isLostFile(error) || options.signal.aborted) throw explainFileFault(error);
    }
  }
}

async function findOrWrite(members: readonly Member[], { cache, io, signal }: UnionOptions): Promise<Lake> {
  const folder = join(cache, 'unions', nameSet(members));
  const root = join(folder, nameContent(members));
  if ((await stat(root).catch(ignoreMissing)) === undefined) {
    io.log('info', 'union.writing', {
      lakes: members.map(({ lake }) => lake.root).join(', '),
      note: 'once for the present versions of these lakes',
    });
    await writeBeside(root, members, signal);
  }
  await utimes(root, io.now(), io.now());
  await removeOld(cache, root, io.now());
  return { root };
}

/** Writes the union to a temporary folder, then renames the folder. Keeps a union that another process wrote first. */
async function writeBeside(root: string, members: readonly Member[], signal: AbortSignal): Promise<void> {
  const part = `${root}.${randomUUID()}.part`;
  await makeFolder(part);
  const session = await openSession({ hasModels: true, signal });
  try {
    await writeUnion(session.db, { root: part }, members);
    await rename(part, root).catch((error: unknown) => {
      if (!hasSystemCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    });
  } finally {
    await session.close();
    await removeBusyFolder(part);
  }
}

const hash = (texts: readonly string[]) => createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 32);

const nameSet = (members: readonly Member[]) => hash(members.map(({ lake }) => lake.root));

/** Returns a folder name that depends on the lakes' files, the union's queries, and the version of pricelake. */
function nameContent(members: readonly Member[]): string {
  const queries = [...UNION_QUERIES.map(readUnionQuery), ...listDerived().map((one) => String(one.hash))];
  return hash([PRICELAKE_VERSION, nameVersions(members), ...queries]);
}

async function removeOld(cache: string, root: string, now: Date): Promise<void> {
  const unions = join(cache, 'unions');
  for (const set of await readdir(unions)) {
    const isOwn = set === basename(dirname(root));
    for (const name of (await readdir(join(unions, set)).catch(ignoreMissing)) ?? []) {
      const path = join(unions, set, name);
      const age = now.getTime() - ((await stat(path).catch(ignoreMissing))?.mtimeMs ?? now.getTime());
      if (path !== root && age > (isOwn || name.endsWith('.part') ? KEPT_MS : UNUSED_MS)) await removeBusyFolder(path);
    }
  }
}
