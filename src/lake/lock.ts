import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  type FileHandle,
  link,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { makeFolder, syncFile, syncFolder } from '../io/durable.js';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { explainReadFault } from '../io/path-fault.js';
import { type Lake, privatePath, temporaryPath } from '../tables/layout.js';
import { linkExclusively } from './durable.js';
import { refuseLinks } from './lake.js';
import { listFilesBelow } from './list-files.js';
import { identifyProcess, isAlive } from './process-identity.js';

export const ownerSchema = z.object({
  pid: z.number(),
  host: z.string(),
  place: z.string(),
  startedAt: z.string(),
  token: z.string(),
  acquiredAt: z.string(),
});
type Owner = z.infer<typeof ownerSchema>;

/** A holder whose process can't be observed counts as dead after this many milliseconds without a renewal. */
export const STALE_MS = 60_000;
const INTERVAL_MS = 10_000;

export interface LakeLock {
  /** Aborts when another process has taken over the lock. This process must then stop writing. */
  lost: AbortSignal;
  /** A folder that only this holder uses. A process that has lost the lock can't change a later holder's files. */
  workFolder: string;
  /** Runs `work`. If `work` fails after the lock was lost, throws PricelakeError `lake_locked` instead of its error. */
  explainLoss<T>(work: () => Promise<T>): Promise<T>;
  release(): Promise<void>;
}

/**
 * Makes this process the only writer of the lake. Takes over the lock of a dead holder. A holder is dead if its process
 * has ended, or if its process can't be observed from this host or container and hasn't renewed the lock for 60
 * seconds.
 * @throws PricelakeError `lake_locked` that names the holder if it is alive, `lake_invalid` if the lake contains a
 * symbolic link
 */
export async function lockLake(lake: Lake, io: Io): Promise<LakeLock> {
  const owner = identifyOwner(io);
  const mine = privatePath(lake, `lock.new.${owner.token}`);
  await refuseLinks(lake);
  try {
    const file = await open(mine, 'wx+');
    try {
      await file.writeFile(JSON.stringify(owner));
      await file.sync();
      await acquire(lake, mine, owner, io);
    } catch (error) {
      await file.close();
      throw error;
    }
    const heartbeat = startHeartbeat(lockPath(lake), file, JSON.stringify(owner), io);
    return { ...heartbeat, workFolder: privatePath(lake, 'work', owner.token) };
  } finally {
    await rm(mine, { force: true });
  }
}

export function identifyOwner(io: Io): Owner {
  return { ...identifyProcess(), token: randomUUID(), acquiredAt: io.now().toISOString() };
}

function lockPath(lake: Lake): string {
  return privatePath(lake, 'lock');
}

/** Returns the path of the file that names the successor of a lock holder. Only one process can create this file. */
function successionPath(lake: Lake, token: string): string {
  return privatePath(lake, `lock.after.${token}`);
}

async function acquire(lake: Lake, mine: string, owner: Owner, io: Io): Promise<void> {
  for (;;) {
    if (await linkExclusively(mine, lockPath(lake))) return;
    const chain = await readChain(lake);
    const last = chain.at(-1);
    if (last === undefined) continue;
    if (await isHolding(mine, last)) throw describeHolder(lake, last.owner);
    if (await succeed(lake, mine, owner, last.owner)) {
      if (isAlive(last.owner) === undefined) await detachFiles(lake);
      io.log('warn', 'lake.lock_taken_over', { pid: last.owner.pid, host: last.owner.host });
      return;
    }
  }
}

/**
 * Takes over the lock of a dead holder. Returns false if another process was faster, because only one process can
 * create the succession file. This file is deleted after the lock is replaced, so a slow process may create it again.
 * The slow process then isn't in the chain of holders, and gives up.
 */
async function succeed(lake: Lake, mine: string, owner: Owner, dead: Owner): Promise<boolean> {
  const succession = successionPath(lake, dead.token);
  if (!(await linkExclusively(mine, succession))) return false;
  const chain = await readChain(lake);
  if (chain.at(-1)?.owner.token !== owner.token) {
    await rm(succession, { force: true });
    return false;
  }
  const copy = `${mine}.copy`;
  await link(mine, copy);
  await rename(copy, lockPath(lake));
  for (const link of chain.slice(0, -1)) await rm(successionPath(lake, link.owner.token), { force: true });
  return true;
}

/**
 * Copies each file that the previous holder may still have open, and puts the copy in its place. If the previous holder
 * was only suspended, it then writes to the old files, which nobody uses, until it notices that it has lost the lock.
 */
async function detachFiles(lake: Lake): Promise<void> {
  const runs = (await readdir(privatePath(lake, 'landing')).catch(ignoreMissing)) ?? [];
  const newest = runs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1);
  for (const parts of [['backfill'], ...(newest === undefined ? [] : [['landing', newest]])]) {
    const files = await listFilesBelow(privatePath(lake, ...parts));
    for (const file of files) {
      const copy = temporaryPath(lake, file);
      await makeFolder(dirname(copy));
      await copyFile(file, copy, constants.COPYFILE_FICLONE);
      await syncFile(copy);
      await rename(copy, file);
    }
    if (files.length > 0) await syncFolder(privatePath(lake, ...parts));
  }
}

interface Link {
  path: string;
  owner: Owner;
}

/** Reads the chain of holders: the owner of the lock file, then its successors. The chain is empty without a lock. */
export async function readChain(lake: Lake): Promise<Link[]> {
  const chain: Link[] = [];
  for (let path = lockPath(lake); ; ) {
    const text = await readFile(path, 'utf8').catch(explainReadFault(path, NO_LOCK));
    if (text === undefined) return chain;
    const owner = parseOwner(path, text);
    chain.push({ path, owner });
    path = successionPath(lake, owner.token);
  }
}

const NO_LOCK = 'Make sure that no run is working on the lake, then delete the file.';

function parseOwner(path: string, text: string): Owner {
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new PricelakeError(
      'lake_invalid',
      `${path}: pricelake did not write this lock`,
      { hint: NO_LOCK },
      { cause },
    );
  }
}

/** True if the holder is alive. Compares only times from the file system, so the hosts' clocks don't matter. */
async function isHolding(mine: string, { path, owner }: Link): Promise<boolean> {
  const alive = isAlive(owner);
  if (alive !== undefined) return alive;
  const [now, beat] = [await stat(mine), await stat(path).catch(ignoreMissing)];
  return beat === undefined || now.mtimeMs - beat.mtimeMs <= STALE_MS;
}

function describeHolder(lake: Lake, owner: Owner): PricelakeError {
  const who = `process ${owner.pid} on ${owner.host}`;
  return new PricelakeError('lake_locked', `${lake.root}: locked by ${who} since ${owner.acquiredAt}`, {
    hint: 'Wait until that run ends, or stop it. pricelake takes over the lock of a dead process automatically.',
    pid: owner.pid,
    host: owner.host,
    since: owner.acquiredAt,
  });
}

/**
 * Renews the lock regularly by writing its text again. The file system records the time of each write, so differences
 * between the hosts' clocks don't matter. `release` closes `file`.
 */
export function startHeartbeat(
  path: string,
  file: FileHandle,
  text: string,
  io: Io,
  intervalMs = INTERVAL_MS,
): Omit<LakeLock, 'workFolder'> {
  const lost = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  const look = async () => {
    if (lost.signal.aborted || (await isOurs(path, file))) return;
    clearInterval(timer);
    io.log('error', 'lake.lock_lost', { path });
    lost.abort(describeLoss(path));
  };
  const beat = async () => {
    await look();
    if (!lost.signal.aborted) await file.write(text, 0);
  };
  // A failed renewal isn't fatal, because a later one may succeed, for example when a network file system is back.
  const timer = setInterval(() => {
    beating = beat().catch((error: unknown) => io.log('warn', 'lake.heartbeat_missed', { error: String(error) }));
  }, intervalMs);
  timer.unref();
  return {
    lost: lost.signal,
    async explainLoss(work) {
      try {
        return await work();
      } catch (error) {
        await look().catch(() => {}); // the original error explains more than this one
        throw lost.signal.aborted ? lost.signal.reason : error;
      }
    },
    async release(): Promise<void> {
      clearInterval(timer);
      await beating;
      try {
        if (await isOurs(path, file)) await rm(path, { force: true });
      } finally {
        await file.close();
      }
    },
  };
}

function describeLoss(path: string): PricelakeError {
  return new PricelakeError('lake_locked', `${path}: another process took over the lock`, {
    hint: 'This process failed to renew its lock for a minute, so another process is continuing its run. Run the same command again when that process has ended.',
  });
}

/** True if the lock file is still the file that this process created. */
async function isOurs(path: string, file: FileHandle): Promise<boolean> {
  const [own, current] = [await file.stat(), await stat(path).catch(ignoreMissing)];
  return current !== undefined && current.ino === own.ino && current.dev === own.dev;
}

/** Deletes temporary lock files older than a minute. Processes that ended before they got the lock left these files. */
export async function clearLockLeftovers(lake: Lake): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(privatePath(lake))) {
    if (!name.startsWith('lock.new.')) continue;
    const path = privatePath(lake, name);
    const info = await stat(path).catch(ignoreMissing);
    if (info !== undefined && now - info.mtimeMs > STALE_MS) await rm(path, { force: true });
  }
}
