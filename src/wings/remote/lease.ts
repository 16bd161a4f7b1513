import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { writeDurably } from '../../lake/durable.js';
import { identifyOwner, ownerSchema } from '../../lake/lock.js';
import { isAlive } from '../../lake/process-identity.js';
import { type Lake, privatePath } from '../../tables/layout.js';
import type { ObjectStore, StoredObject } from './object-store.js';

const noteSchema = z.strictObject({ url: z.string(), copy: z.uuid(), generation: z.int().min(0) });

/** The content of `_pricelake/remote.json`: the folder's remote, and the last lease under which both were equal. */
export type CopyNote = z.infer<typeof noteSchema>;

const notePath = (lake: Lake) => privatePath(lake, 'remote.json');

/** Reads the folder's note. Returns undefined if the note is missing, is damaged or names another remote. */
export async function readNote(lake: Lake, url: string): Promise<CopyNote | undefined> {
  const note = await readAnyNote(lake);
  return note?.url === url ? note : undefined;
}

export async function readAnyNote(lake: Lake): Promise<CopyNote | undefined> {
  const text = await readFile(notePath(lake), 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function writeNote(lake: Lake, note: CopyNote): Promise<void> {
  await writeDurably(lake, notePath(lake), `${JSON.stringify(note)}\n`);
}

/** Creates a folder's first note. No lease has its generation 0, so the folder can only equal an empty remote. */
export function makeNote(url: string): CopyNote {
  return { url, copy: randomUUID(), generation: 0 };
}

const FOLDER = '_pricelake/lock/';
/** If a lease isn't renewed for this long, its holder is considered dead. */
const LEASE_MS = 90_000;
const BEAT_MS = 20_000;
/** A process that can't renew its lease for this long stops before others take over. It checks every BEAT_MS. */
const STOP_MS = LEASE_MS - BEAT_MS;

const recordSchema = ownerSchema.extend({
  copy: z.string(),
  after: z.int().min(0),
  /** True if the folder and the remote had the same content when the lease was taken. */
  inLine: z.boolean(),
  released: z.boolean(),
});
type LeaseRecord = z.infer<typeof recordSchema>;

export interface Lease {
  generation: number;
  /** True if this folder held the previous lease, or if the remote is new. The folder's versions are then uploaded. */
  inLine: boolean;
  /** Aborts when another process has taken over, or may have, because the lease wasn't renewed in time. */
  lost: AbortSignal;
  /** Throws if there is a newer lease, which a suspended process may have missed. @throws the reason of `lost` */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

const leaseKey = (generation: number) => FOLDER + String(generation).padStart(12, '0');

/**
 * Takes the lease by creating the object `_pricelake/lock/<generation>`, on the condition that it doesn't exist yet.
 * The newest lease must have been released, or its holder must be dead. A holder is dead if its process on this machine
 * has ended, or if it hasn't renewed the lease for 90 s by the store's clock.
 * @throws PricelakeError `lake_locked` that names the current holder
 */
export async function takeLease(store: ObjectStore, note: CopyNote, io: Io): Promise<Lease> {
  for (;;) {
    const last = (await listGenerations(store)).at(-1) ?? 0;
    const before = last === 0 ? undefined : await readRecord(store, last);
    if (last > 0 && before === undefined) continue; // a later holder has deleted this lease's record
    if (before !== undefined) refuseHeld(store, before);
    const generation = last + 1;
    const inLine = before === undefined || isInLine(note, last, before.record);
    const record: LeaseRecord = { ...identifyOwner(io), copy: note.copy, after: last, inLine, released: false };
    if (!(await createRecord(store, generation, record))) continue;
    const generations = await listGenerations(store);
    if ((generations.at(-1) ?? 0) > generation) {
      // Another process had already created this generation, and has deleted it since.
      await store.remove([leaseKey(generation)]);
      continue;
    }
    await store.remove(generations.filter((other) => other < generation).map(leaseKey));
    if (before?.record.released === false) {
      io.log('warn', 'remote.lease_taken_over', { pid: before.record.pid, host: before.record.host });
    }
    return holdLease(store, generation, record, io);
  }
}

/** True if the folder's note names the newest lease, or if a killed process of this folder took that lease. */
function isInLine(note: CopyNote, last: number, { copy, after, inLine }: LeaseRecord): boolean {
  return copy === note.copy && (note.generation === last || (inLine && note.generation === after));
}

interface StoredRecord {
  record: LeaseRecord;
  stored: StoredObject;
}

function isHeld({ record, stored }: StoredRecord): boolean {
  const age = stored.readAt.getTime() - stored.writtenAt.getTime();
  return !record.released && age <= LEASE_MS && isAlive(record) !== false;
}

function refuseHeld(store: ObjectStore, found: StoredRecord): void {
  if (!isHeld(found)) return;
  const { pid, host, acquiredAt: since } = found.record;
  throw new PricelakeError('lake_locked', `${store.url}: locked by process ${pid} on ${host} since ${since}`, {
    hint: 'Wait until that run ends, or stop it. The lease of a process that has died expires after 90 seconds.',
    ...{ pid, host, since },
  });
}

async function listGenerations(store: ObjectStore): Promise<number[]> {
  const names = (await store.list(FOLDER)).map(({ key }) => key.slice(FOLDER.length));
  return names.filter((name) => /^\d{12}$/.test(name)).map(Number);
}

async function readRecord(store: ObjectStore, generation: number): Promise<StoredRecord | undefined> {
  const stored = await store.read(leaseKey(generation));
  if (stored === undefined) return undefined;
  try {
    return { stored, record: recordSchema.parse(JSON.parse(stored.bytes.toString())) };
  } catch (cause) {
    const hint = 'Make sure that no run is working on the lake, then delete the object.';
    const what = `${store.url}: pricelake did not write the lease ${leaseKey(generation)}`;
    throw new PricelakeError('lake_invalid', what, { hint }, { cause });
  }
}

/** Creates the record of a lease. Also returns true if an earlier attempt has created it, but its response was lost. */
async function createRecord(store: ObjectStore, generation: number, record: LeaseRecord): Promise<boolean> {
  if (await store.create(leaseKey(generation), toBytes(record))) return true;
  return (await readRecord(store, generation))?.record.token === record.token;
}

function holdLease(store: ObjectStore, generation: number, record: LeaseRecord, io: Io): Lease {
  const lost = new AbortController();
  let renewedAt = performance.now();
  let beating: Promise<void> = Promise.resolve();
  const lose = (reason: string) => {
    clearInterval(timer);
    io.log('error', 'remote.lease_lost', { reason });
    lost.abort(new PricelakeError('lake_locked', `${store.url}: ${reason}`, { hint: 'Run the same command again.' }));
  };
  const confirm = async () => {
    lost.signal.throwIfAborted();
    if (((await listGenerations(store)).at(-1) ?? 0) > generation) lose('another process took over the lease');
    lost.signal.throwIfAborted();
  };
  const beat = async () => {
    await confirm();
    const asked = performance.now();
    await store.write(leaseKey(generation), toBytes(record));
    renewedAt = asked;
  };
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > STOP_MS) return lose('the lease could not be renewed in time');
    beating = beating.then(beat).catch((error: unknown) => {
      if (!lost.signal.aborted) io.log('warn', 'remote.beat_missed', { error: String(error) });
    });
  }, BEAT_MS);
  timer.unref();
  return {
    generation,
    inLine: record.inLine,
    lost: lost.signal,
    confirm,
    async release() {
      clearInterval(timer);
      await beating;
      if (!lost.signal.aborted) await store.write(leaseKey(generation), toBytes({ ...record, released: true }));
    },
  };
}

const toBytes = (record: LeaseRecord) => Buffer.from(`${JSON.stringify(record)}\n`);

/** Returns the process that holds the lease of a remote. Returns undefined if no process holds it. */
export async function readHolder(store: ObjectStore) {
  const last = (await listGenerations(store)).at(-1);
  const found = last === undefined ? undefined : await readRecord(store, last);
  if (found === undefined || found.record.released) return undefined;
  const { pid, host, acquiredAt: since } = found.record;
  return { pid, host, since, beatAt: found.stored.writtenAt, alive: isHeld(found) };
}
