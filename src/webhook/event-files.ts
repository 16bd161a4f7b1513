import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { hasSystemCode } from '../errors/errors.js';
import { refuseLink } from '../errors/path-fault.js';
import { makeFolder, syncFolder, writeSynced } from '../io/durable.js';
import type { Io } from '../io/io.js';

/**
 * `_pricelake/webhooks/` of a lake. Every file in it is created whole, by link(2), and never changed: a kill leaves no
 * torn tail, and a receiver and a run need no lock between them.
 *
 *     events/<key>          the raw body of one event, byte for byte, until a published run has taken it over
 *     taken/<run id>.keys   keys of the events that a run has taken over: their repeats are known, too
 *     aside/<time>-<hash>   signed bodies that are no event we can read
 *     tmp/                  files that are being written
 */
export function webhookPath(lakeRoot: string, ...parts: string[]): string {
  return path.join(lakeRoot, '_pricelake', 'webhooks', ...parts);
}

/** How long the ids of events are remembered: twice over what retries take (section 6) and then some. */
export const ID_MEMORY_MS = 7 * 24 * 3600 * 1000;

/** A landed event. */
export interface EventFile {
  key: string;
  path: string;
}

const KEY = /^[0-9a-f]{40}$/;

/** An id is any text; its key is a file name. */
export function keyOf(eventId: string): string {
  return createHash('sha256').update(eventId).digest('hex').slice(0, 40);
}

/** Events that no published run has taken over, in no particular order. */
export async function listEvents(lakeRoot: string): Promise<EventFile[]> {
  const keys = (await listNames(webhookPath(lakeRoot, 'events'))).filter((name) => KEY.test(name));
  return keys.map((key) => ({ key, path: webhookPath(lakeRoot, 'events', key) }));
}

/** How many events wait for a run, and how many bodies were set aside. */
export async function countFiles(lakeRoot: string): Promise<{ waiting: number; setAside: number }> {
  const waiting = (await listEvents(lakeRoot)).length;
  return { waiting, setAside: (await listNames(webhookPath(lakeRoot, 'aside'))).length };
}

/**
 * Removes events that run `runId` has taken over; their ids are remembered. What they hold is published: call it behind
 * the commit. Repeatable; forgets the ids that are older than ID_MEMORY_MS.
 */
export async function removeEvents(lakeRoot: string, keys: readonly string[], runId: string, io: Io): Promise<void> {
  if (keys.length === 0) return;
  await makeFolders(lakeRoot);
  const taken = webhookPath(lakeRoot, 'taken');
  await createFile(lakeRoot, path.join(taken, `${runId}.keys`), Buffer.from(keys.map((key) => `${key}\n`).join('')));
  for (const key of keys) await rm(webhookPath(lakeRoot, 'events', key), { force: true });
  for (const name of await listNames(taken)) {
    const file = path.join(taken, name);
    if ((await readTime(file)) < io.now().getTime() - ID_MEMORY_MS) await rm(file, { force: true });
  }
}

/** Keys of all events that are known, with the time from which they are remembered, oldest first. */
export async function readKnownKeys(lakeRoot: string): Promise<[key: string, at: number][]> {
  const known: [string, number][] = [];
  // Before the keys of runs: a run writes these down before it removes an event.
  for (const { key, path: file } of await listEvents(lakeRoot)) known.push([key, await readTime(file)]);
  for (const name of await listNames(webhookPath(lakeRoot, 'taken'))) {
    const file = webhookPath(lakeRoot, 'taken', name);
    const text = await readFile(file, 'utf8').catch(ignoreMissing('')); // forgotten just now
    const at = await readTime(file);
    for (const key of text.split('\n')) if (KEY.test(key)) known.push([key, at]);
  }
  return known.sort(([, a], [, b]) => a - b);
}

/** @throws PricelakeError `lake_invalid` for a link in the place of one: events would be kept, and removed, behind it */
export async function makeFolders(lakeRoot: string): Promise<void> {
  const folders = ['events', 'taken', 'aside', 'tmp'].map((name) => webhookPath(lakeRoot, name));
  for (const folder of [path.dirname(webhookPath(lakeRoot)), webhookPath(lakeRoot), ...folders]) {
    const info = await lstat(folder).catch(ignoreMissing(undefined));
    if (info?.isSymbolicLink() === true) throw refuseLink(folder);
  }
  for (const folder of folders) await makeFolder(folder);
}

/** Clears what receivers that were killed long ago were writing. */
export async function clearLeftovers(lakeRoot: string, io: Io): Promise<void> {
  for (const name of await listNames(webhookPath(lakeRoot, 'tmp'))) {
    const file = webhookPath(lakeRoot, 'tmp', name);
    if ((await readTime(file)) < io.now().getTime() - 3600 * 1000) await rm(file, { force: true });
  }
}

/** Creates a file whole, or not at all: false when the name is taken. Durable either way when it resolves. */
export async function createFile(lakeRoot: string, target: string, bytes: Buffer): Promise<boolean> {
  const temporary = webhookPath(lakeRoot, 'tmp', randomUUID());
  let isNew = true;
  try {
    await writeSynced(temporary, bytes, 'wx');
    await link(temporary, target);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
    isNew = false;
  } finally {
    await rm(temporary, { force: true });
  }
  // From here on the name survives a power cut as well.
  await syncFolder(path.dirname(target));
  return isNew;
}

export async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch(ignoreMissing([]));
}

/** 0 for a file that is gone. */
async function readTime(file: string): Promise<number> {
  const info = await stat(file).catch(ignoreMissing(undefined));
  return info?.mtimeMs ?? 0;
}

function ignoreMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (hasSystemCode(error, 'ENOENT')) return instead;
    throw error;
  };
}
