import { readdir } from 'node:fs/promises';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { type Lake, openLake } from '../lake/lake.js';
import { ignoreMissing, PRIVATE_FOLDER, privatePath, tablePath } from '../lake/layout.js';
import { lockLake } from '../lake/lock.js';
import { markPartial, readPartial, refusePartial, unmarkPartial } from '../lake/partial.js';
import { finishSwap } from '../lake/swap-lake.js';
import { TABLE_NAMES } from '../tables/table.js';
import { expireRemote } from './expire.js';
import { LandingMirror } from './landing-mirror.js';
import { type CopyNote, type Lease, makeNote, readNote, takeLease, writeNote } from './lease.js';
import { type ObjectStore, refuseUnconditional } from './object-store.js';
import { listLocalLog, listTables } from './remote-table.js';
import { parseRemoteUrl, REMOTE_URL } from './remote-url.js';
import { type Fetched, fetchDataFiles, fetchTables, restoreLake } from './restore.js';
import { type Ends, sendTables } from './send-tables.js';
import { MARKER, sendSmallFiles } from './small-files.js';

/** How often a run at work sends what it has landed. */
const MIRROR_MS = 60_000;

/** The remote of a lake, held by this process. */
export interface Remote {
  /** Sends all that the unfinished run has landed: call it before its first commit. */
  saveLanding(): Promise<void>;
  /** Sends what was committed, and what says so. Call it behind a publication. */
  publish(): Promise<void>;
  /** Fetches those of these data files that the folder lacks. */
  bring: NonNullable<Lake['bring']>;
  /** Fetches all data files that the folder lacks: from then on it has the whole lake. */
  bringAll(): Promise<Fetched>;
}

/**
 * Holds the remote of a lake while `work` is done: takes its lease, continues an upload that broke off or fetches what
 * other machines have published, and sends what `work` leaves.
 * @throws PricelakeError `lake_locked` where another machine holds the remote or was faster, `config` where the store
 * does not honour conditions, `lake_invalid`, `unauthorized`, `unavailable`.
 */
export async function holdRemote<T>(
  lakePath: string,
  store: ObjectStore,
  io: Io,
  signal: AbortSignal | undefined,
  work: (remote: Remote, stop: AbortSignal) => Promise<T>,
): Promise<T> {
  await refuseUnconditional(store);
  await refuseForeignPrefix(store);
  const lake = await openLake(lakePath, { create: true });
  const partial = await readPartial(lake);
  // Another remote can't get what isn't here.
  if (partial !== undefined && partial.remote !== store.url) await refusePartial(lake);
  const found = await readNote(lake, store.url);
  const note = found ?? makeNote(store.url);
  const lease = await takeLease(store, note, io);
  const stop = signal === undefined ? lease.lost : AbortSignal.any([signal, lease.lost]);
  const held = new HeldRemote({ store, lake, io, stop }, lease);
  try {
    await held.settle(note, found === undefined);
    const mirroring = setInterval(() => void held.mirror(), MIRROR_MS);
    mirroring.unref();
    try {
      const result = await work(held, stop);
      await held.publish();
      return result;
    } catch (error) {
      // What fails here as well is sent at the next start of this machine.
      await held.mirror();
      throw error;
    } finally {
      clearInterval(mirroring);
    }
  } finally {
    await held.letGo();
  }
}

class HeldRemote implements Remote {
  readonly #ends: Ends;
  readonly #lease: Lease;
  readonly #landing: LandingMirror;
  /** The logs of the tables as they were sent: while the lease is held, the remote's are no others. */
  #sentLogs: string | undefined;

  constructor(ends: Ends, lease: Lease) {
    this.#ends = ends;
    this.#lease = lease;
    this.#landing = new LandingMirror(ends);
  }

  /** Brings folder and remote in line, under the lock of the folder. */
  async settle(note: CopyNote, isNew: boolean): Promise<void> {
    const { lake, store, io } = this.#ends;
    const lock = await lockLake(lake, io);
    try {
      await finishSwap(lake);
      const now = { ...note, generation: this.#lease.generation };
      if (this.#lease.inLine || (await store.read(MARKER)) === undefined) {
        await writeNote(lake, now);
        if (await this.#send()) return;
        io.log('warn', 'remote.took_another_way', { remote: store.url });
      } else if (isNew) await refuseOtherLake(lake, store);
      if (isNew) {
        await markPartial(lake, { remote: store.url });
        // What is fetched from here on is a copy, if not in line yet: a kill leaves no lake of unknown origin.
        await writeNote(lake, note);
      }
      await restoreLake(this.#ends, await listTables(store));
      await writeNote(lake, now);
    } finally {
      await lock.release();
    }
  }

  saveLanding(): Promise<void> {
    this.#lease.lost.throwIfAborted();
    return this.#landing.save();
  }

  async publish(): Promise<void> {
    if (await this.#send()) return;
    const { store } = this.#ends;
    throw new PricelakeError('lake_locked', `${store.url}: another machine published first`, {
      hint: 'The same command fetches what it published, and copies what has changed since.',
    });
  }

  bring: Remote['bring'] = async (table, files) => void (await fetchDataFiles(this.#ends, table, files));

  async bringAll(): Promise<Fetched> {
    const { lake, io } = this.#ends;
    const lock = await lockLake(lake, io);
    try {
      const fetched = await fetchTables(this.#ends, TABLE_NAMES);
      await unmarkPartial(lake);
      return fetched;
    } finally {
      await lock.release();
    }
  }

  /** While a run works: what fails now is sent later. */
  async mirror(): Promise<void> {
    if (this.#lease.lost.aborted) return;
    await this.#landing.save().catch((error: unknown) => this.#warn('remote.mirror_missed', error));
  }

  async letGo(): Promise<void> {
    await this.#lease.release().catch((error: unknown) => this.#warn('remote.release_missed', error));
  }

  async #send(): Promise<boolean> {
    const { store, lake } = this.#ends;
    this.#lease.lost.throwIfAborted();
    const logs = await nameLogs(lake);
    const before = logs === this.#sentLogs ? [] : await listTables(store);
    if (!(await sendTables(this.#ends, before))) return false;
    this.#sentLogs = logs;
    await this.#lease.confirm();
    await sendSmallFiles(this.#ends);
    await this.#landing.settle();
    await expireRemote(this.#ends, before);
    return true;
  }

  #warn(event: string, error: unknown): void {
    this.#ends.io.log('warn', event, { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** The names of all files of the tables' logs, as one text. */
async function nameLogs(lake: Lake): Promise<string> {
  const logs = await Promise.all(TABLE_NAMES.map(async (table) => [table, await listLocalLog(lake, table)]));
  return JSON.stringify(logs);
}

/** A prefix that holds something else is left untouched. */
async function refuseForeignPrefix(store: ObjectStore): Promise<void> {
  if ((await store.read(MARKER)) !== undefined) return;
  const foreign = (await store.list('', 50)).find(
    ({ key }) => !key.startsWith(`${PRIVATE_FOLDER}/`) && !isTableKey(key),
  );
  if (foreign === undefined) return;
  throw new PricelakeError('lake_invalid', `${store.url}: not a lake, it holds ${foreign.key}; it was left untouched`, {
    hint: 'Give an empty bucket, or a prefix of its own, as lake.remote.',
  });
}

/** Of a lake whose first upload broke off. */
const isTableKey = (key: string) => TABLE_NAMES.some((table) => key.startsWith(`${table}/`));

/** A lake that never was a copy of the remote would be lost under it. */
async function refuseOtherLake(lake: Lake, store: ObjectStore): Promise<void> {
  const folders = [privatePath(lake, 'landing'), ...TABLE_NAMES.map((table) => tablePath(lake, table))];
  for (const folder of folders) {
    if (((await readdir(folder).catch(ignoreMissing)) ?? []).length === 0) continue;
    throw new PricelakeError('lake_invalid', `${lake.root}: it holds a lake that is no copy of ${store.url}`, {
      hint: 'Give an empty folder as lake.path to work on the remote, or an empty prefix as lake.remote to upload this lake.',
    });
  }
}

/** The settings of a lake that say where it is. */
export interface LakePlace {
  path: string;
  remote?: string | undefined;
}

/** Opens the storage that an address names. */
export async function openStore(address: string, io: Io): Promise<ObjectStore> {
  const url = parseRemoteUrl(address);
  if (url === undefined) throw new PricelakeError('usage', `the address of a remote ${REMOTE_URL}`);
  const { openS3Store } = await import('./s3-store.js');
  return openS3Store(url, io);
}

/** Does `work` while this process holds the lake's remote; without one, it is just done. */
export async function withRemote<T>(
  { path, remote }: LakePlace,
  io: Io,
  signal: AbortSignal | undefined,
  work: (remote: Remote | undefined, stop: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (remote === undefined) return work(undefined, signal);
  const store = await openStore(remote, io);
  try {
    return await holdRemote(path, store, io, signal, work);
  } finally {
    store.close();
  }
}
