import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseRemoteUrl, REMOTE_URL } from '../../formats/remote-url.js';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { listLog } from '../../lake/delta-log.js';
import { openLake } from '../../lake/lake.js';
import { lockLake } from '../../lake/lock.js';
import { markPartial, readPartial, refusePartial, unmarkPartial } from '../../lake/partial.js';
import { finishSwap } from '../../lake/swap-lake.js';
import { type Lake, PRIVATE_FOLDER, privatePath, tablePath } from '../../tables/layout.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { MirroredFolder } from '../wing.js';
import { LandingMirror } from './landing-mirror.js';
import { type CopyNote, type Lease, makeNote, readNote, takeLease, writeNote } from './lease.js';
import { fetchFolder, sendFolder } from './mirrored-folder.js';
import { type ObjectStore, refuseUnconditional } from './object-store.js';
import { type Ends, listTables, MARKER, sendSmallFiles } from './remote-table.js';
import { type Fetched, fetchDataFiles, fetchTables, restoreLake } from './restore.js';
import { expireRemote, sendTables } from './send-tables.js';

const MIRROR_MS = 60_000;

/**
 * Holds the lease of a lake's remote while `work` runs. Before that, continues an interrupted upload, or downloads what
 * other machines have published. Afterwards, uploads the results of `work`.
 * @throws PricelakeError `lake_locked` if another machine holds the lease or published first; `config` if the store
 *   ignores conditional writes; `lake_invalid`, `unauthorized`, `unavailable`
 */
export async function holdRemote<T>(
  lakePath: string,
  store: ObjectStore,
  io: Io,
  signal: AbortSignal | undefined,
  work: (remote: Remote, stop: AbortSignal) => Promise<T>,
  mirrored: readonly MirroredFolder[] = [],
): Promise<T> {
  await refuseUnconditional(store);
  await refuseForeignPrefix(store);
  const lake = await openLake(lakePath, { create: true });
  const partial = await readPartial(lake);
  // If the folder lacks data files, only its own remote has them, so the folder can't be uploaded to another remote.
  if (partial !== undefined && partial.remote !== store.url) await refusePartial(lake);
  const found = await readNote(lake, store.url);
  const note = found ?? makeNote(store.url);
  const lease = await takeLease(store, note, io);
  const stop = signal === undefined ? lease.lost : AbortSignal.any([signal, lease.lost]);
  const held = new Remote({ store, lake, io, stop }, lease, mirrored);
  try {
    await held.settle(note, found === undefined);
    const mirroring = setInterval(() => void held.mirror(), MIRROR_MS);
    mirroring.unref();
    try {
      const result = await work(held, stop);
      await held.publish();
      return result;
    } catch (error) {
      // If this upload fails too, the next command on this machine uploads the files.
      await held.mirror();
      throw error;
    } finally {
      clearInterval(mirroring);
    }
  } finally {
    await held.letGo();
  }
}

export class Remote {
  readonly #ends: Ends;
  readonly #lease: Lease;
  readonly #landing: LandingMirror;
  readonly #mirrored: readonly MirroredFolder[];
  /** Identifies the uploaded logs. If they are unchanged, the remote, which is locked, needn't be listed again. */
  #sentLogs: string | undefined;

  constructor(ends: Ends, lease: Lease, mirrored: readonly MirroredFolder[]) {
    this.#ends = ends;
    this.#lease = lease;
    this.#mirrored = mirrored;
    this.#landing = new LandingMirror(ends);
  }

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
        // The note is written before the first download, so that a killed process leaves no files of unknown origin.
        await writeNote(lake, note);
      }
      await restoreLake(this.#ends, await listTables(store));
      for (const folder of this.#mirrored) await fetchFolder(this.#ends, folder);
      await writeNote(lake, now);
    } finally {
      await lock.release();
    }
  }

  /** Uploads the files that an unfinished run has downloaded. Call this before the run's first commit. */
  saveLanding(): Promise<void> {
    this.#lease.lost.throwIfAborted();
    return this.#landing.save();
  }

  /** Uploads new commits and `lake.json`. Call this after a run has published. */
  async publish(): Promise<void> {
    if (await this.#send()) return;
    const { store } = this.#ends;
    throw new PricelakeError('lake_locked', `${store.url}: another machine published first`, {
      hint: 'Run the same command again. It first downloads the run that the other machine published.',
    });
  }

  /** Downloads those of the given data files that are missing on this machine. */
  provide: NonNullable<Lake['provide']> = async (table, files) => void (await fetchDataFiles(this.#ends, table, files));

  /** Downloads all data files that are missing on this machine, so that the folder contains the complete lake. */
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

  /** Uploads new files of an unfinished run. A failure is only logged, because the files will be uploaded again. */
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
    const { confirm } = this.#lease;
    await sendSmallFiles(this.#ends, confirm);
    for (const folder of this.#mirrored) await sendFolder(this.#ends, folder, confirm);
    await this.#landing.settle(confirm);
    await expireRemote(this.#ends, before);
    return true;
  }

  #warn(event: string, error: unknown): void {
    this.#ends.io.log('warn', event, { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Returns a text that changes whenever a file in any table's log changes. */
async function nameLogs(lake: Lake): Promise<string> {
  const logs = await Promise.all(TABLE_NAMES.map(async (table) => [table, await listLog(lake, table)]));
  return JSON.stringify(logs);
}

async function refuseForeignPrefix(store: ObjectStore): Promise<void> {
  if ((await store.read(MARKER)) !== undefined) return;
  // If the first upload was interrupted, the store may already contain tables.
  const known = [PRIVATE_FOLDER, ...TABLE_NAMES].map((name) => `${name}/`);
  const foreign = (await store.list('', 50)).find(({ key }) => !known.some((folder) => key.startsWith(folder)));
  if (foreign === undefined) return;
  throw new PricelakeError(
    'lake_invalid',
    `${store.url}: not a lake: it contains ${foreign.key}; nothing was changed`,
    {
      hint: 'Set lake.remote to an empty bucket, or to its own prefix.',
    },
  );
}

/** Throws if the folder contains a lake that isn't a copy of the remote, because a download would overwrite it. */
async function refuseOtherLake(lake: Lake, store: ObjectStore): Promise<void> {
  const folders = [privatePath(lake, 'landing'), ...TABLE_NAMES.map((table) => tablePath(lake, table))];
  for (const folder of folders) {
    if (((await readdir(folder).catch(ignoreMissing)) ?? []).length === 0) continue;
    throw new PricelakeError('lake_invalid', `${lake.root}: contains a lake that is not a copy of ${store.url}`, {
      hint: 'Set lake.path to an empty folder to work on the remote, or lake.remote to an empty prefix to upload this lake.',
    });
  }
}

export async function openStore(address: string, io: Io): Promise<ObjectStore> {
  const url = parseRemoteUrl(address);
  if (url === undefined) throw new PricelakeError('usage', `the address of a remote ${REMOTE_URL}`);
  const { openS3Store } = await import('./s3-store.js');
  return openS3Store(url, io);
}

/**
 * Runs `work` while this process holds the lease of the lake's remote. Without a remote, runs `work` without a lease.
 * @throws PricelakeError `lake_invalid` if there is no remote, but data files are missing from the folder
 */
export async function withRemote<T>(
  { path, remote }: { path: string; remote?: string | undefined },
  io: Io,
  signal: AbortSignal | undefined,
  work: (remote: Remote | undefined, stop: AbortSignal | undefined) => Promise<T>,
  mirrored: readonly MirroredFolder[] = [],
): Promise<T> {
  if (remote === undefined) {
    await refusePartial({ root: resolve(path) });
    return work(undefined, signal);
  }
  const store = await openStore(remote, io);
  try {
    return await holdRemote(path, store, io, signal, work, mirrored);
  } finally {
    store.close();
  }
}
