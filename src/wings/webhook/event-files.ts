import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, syncFolder, writeSynced } from '../../io/durable.js';
import { hasSystemCode, ignoreMissing } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { refuseLink } from '../../io/path-fault.js';

/**
 * Returns a path in a lake's `_pricelake/webhooks/`. Each file is created atomically with link(2) and never changed, so
 * a kill can't leave a partial file, and the receiver and runs need no lock.
 *
 *     events/<key>          the raw body of an event, until a run has published it
 *     taken/<run id>.keys   keys of the events that a run has published, to recognize repeats
 *     aside/<time>-<hash>   signed bodies that can't be read as events
 *     tmp/                  files that are being written
 */
export function webhookPath(lakeRoot: string, ...parts: string[]): string {
  return path.join(lakeRoot, '_pricelake', 'webhooks', ...parts);
}

/** The time for which event ids are remembered. The service retries an event for less than half as long (API §6). */
export const ID_MEMORY_MS = 7 * 24 * 3600 * 1000;

interface EventFile {
  key: string;
  path: string;
}

const KEY = /^[0-9a-f]{40}$/;

/** Returns the file name of an event. The name is a hash of the event's id, because the id may be any text. */
export function keyOf(eventId: string): string {
  return createHash('sha256').update(eventId).digest('hex').slice(0, 40);
}

/** Returns the events that no run has published, in no particular order. */
export async function listEvents(lakeRoot: string): Promise<EventFile[]> {
  const keys = (await listNames(webhookPath(lakeRoot, 'events'))).filter((name) => KEY.test(name));
  return keys.map((key) => ({ key, path: webhookPath(lakeRoot, 'events', key) }));
}

/** Counts the events that no run has published yet, and the bodies that can't be read as events. */
export async function countFiles(lakeRoot: string): Promise<{ waiting: number; setAside: number }> {
  const waiting = (await listEvents(lakeRoot)).length;
  return { waiting, setAside: (await listNames(webhookPath(lakeRoot, 'aside'))).length };
}

/**
 * Deletes the events that the run `runId` has published, after recording their ids. Also forgets ids that are older
 * than ID_MEMORY_MS. Call this after the run's commit. It may be called repeatedly.
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

/** Returns the keys of all known events, oldest first, each with the time since when it has been known. */
export async function readKnownKeys(lakeRoot: string): Promise<[key: string, at: number][]> {
  const known: [string, number][] = [];
  // Events are read before recorded keys. A run records a key before it deletes the event, so no key is missed.
  for (const { key, path: file } of await listEvents(lakeRoot)) known.push([key, await readTime(file)]);
  for (const name of await listNames(webhookPath(lakeRoot, 'taken'))) {
    const file = webhookPath(lakeRoot, 'taken', name);
    const text = await readFile(file, 'utf8').catch(ignoreMissing); // a run may have deleted this file in the meantime
    const at = await readTime(file);
    for (const key of text?.split('\n') ?? []) if (KEY.test(key)) known.push([key, at]);
  }
  return known.sort(([, a], [, b]) => a - b);
}

/** Creates the folders. @throws PricelakeError `lake_invalid` if one is a symbolic link, which may lead elsewhere */
export async function makeFolders(lakeRoot: string): Promise<void> {
  const folders = ['events', 'taken', 'aside', 'tmp'].map((name) => webhookPath(lakeRoot, name));
  for (const folder of [path.dirname(webhookPath(lakeRoot)), webhookPath(lakeRoot), ...folders]) {
    const info = await lstat(folder).catch(ignoreMissing);
    if (info?.isSymbolicLink() === true) throw refuseLink(folder);
  }
  for (const folder of folders) await makeFolder(folder);
}

/** Deletes incomplete files that killed receivers have left, if the files are at least an hour old. */
export async function clearLeftovers(lakeRoot: string, io: Io): Promise<void> {
  for (const name of await listNames(webhookPath(lakeRoot, 'tmp'))) {
    const file = webhookPath(lakeRoot, 'tmp', name);
    if ((await readTime(file)) < io.now().getTime() - 3600 * 1000) await rm(file, { force: true });
  }
}

/** Creates a file atomically. Returns false if the name already exists. In both cases, the name is durable. */
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
  // THE COMMIT POINT: from now on, the file's name survives a power failure.
  await syncFolder(path.dirname(target));
  return isNew;
}

export async function listNames(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? [];
}

async function readTime(file: string): Promise<number> {
  const info = await stat(file).catch(ignoreMissing);
  return info?.mtimeMs ?? 0;
}
