import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nameState, type WatchListOptions } from '../analyze/watch-list.js';
import { ignoreMissing } from '../io/errors.js';
import type { Lake } from '../tables/layout.js';
import { Snapshot, type SnapshotOptions } from './snapshot.js';

/** A lake, and how to update its local copy. */
export interface LakeSource {
  lake: Lake;
  /** Downloads what was published to the remote since the last call; undefined for a local lake. */
  refresh?: (() => Promise<void>) | undefined;
}

export interface SnapshotsOptions extends SnapshotOptions {
  /** Milliseconds between updates from a remote; 60,000 by default. */
  refreshMs?: number | undefined;
  /** Milliseconds until preparing rows is retried after a failure; 60,000 by default. */
  retryMs?: number | undefined;
  /** Logs that a remote or a new version couldn't be read. Pages keep showing the current snapshot. */
  report(error: unknown): void;
}

const REFRESH_MS = 60_000;
export const RETRY_MS = 60_000;

/** Fingerprints of the files behind a snapshot. If one changes, the snapshot is outdated. */
interface Marks {
  lake: string;
  list: string;
}

/** Holds the newest snapshot of a lake, and replaces it after a run publishes. */
export class Snapshots {
  readonly #source: LakeSource;
  readonly #options: SnapshotsOptions;
  #list: WatchListOptions | undefined;
  #marks: Marks = { lake: '', list: '' };
  #current: Snapshot | undefined;
  #opening: Promise<Snapshot> | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;

  constructor(source: LakeSource, options: SnapshotsOptions) {
    this.#source = source;
    this.#options = options;
    this.#list = options.list;
  }

  /**
   * Runs `work` with the newest open snapshot. While another snapshot is being opened, the current one stays in use.
   * @throws PricelakeError `lake_invalid` if no snapshot could be opened
   */
  async use<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { refreshMs = REFRESH_MS, report } = this.#options;
    if (performance.now() - this.#refreshedAt > refreshMs) this.#refresh().catch(report);
    const marks = await this.#readMarks(this.#list);
    const isNew = marks.lake !== this.#marks.lake || marks.list !== this.#marks.list;
    if (isNew || this.#current === undefined || this.#isToRetry(this.#current.failedAt)) {
      this.#opening ??= this.#open(marks, this.#list);
      if (this.#current !== undefined) this.#opening.catch(report);
    } else if (this.#isToRetry(this.#current.version.movesFailedAt)) {
      this.#keepMoves(this.#current);
    }
    const snapshot = this.#current ?? (await this.#opening);
    if (snapshot === undefined) throw new TypeError('no snapshot was opened');
    return snapshot.use(() => work(snapshot));
  }

  /** Opens a snapshot of the lake's current state. @throws PricelakeError `lake_invalid` if the lake can't be read */
  async renew(): Promise<void> {
    await this.#refresh();
    // A snapshot that is already being opened may show the state before a change, so another one is opened after it.
    await Promise.allSettled([this.#opening]);
    this.#marks = { lake: '', list: '' };
    const marks = await this.#readMarks(this.#list);
    this.#opening ??= this.#open(marks, this.#list);
    await this.#opening;
  }

  /**
   * Replaces the reader's list, or removes it if `list` is undefined. Keeps the current list if this fails.
   * @throws PricelakeError as `Snapshot.open` does
   */
  async useList(list: WatchListOptions | undefined): Promise<void> {
    const marks = await this.#readMarks(list);
    while (this.#opening !== undefined) await Promise.allSettled([this.#opening]);
    this.#opening = this.#open(marks, list);
    const { version, list: own } = await this.#opening;
    // Waits for the comparison only if rows are prepared, because it then takes less than a second.
    if (version.prepared.isReady) await own?.made;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#refreshing, this.#opening]);
    await this.#current?.close();
  }

  async #open(marks: Marks, list: WatchListOptions | undefined): Promise<Snapshot> {
    try {
      const next = await this.#make(marks, list);
      this.#current?.retire();
      this.#current = next;
      this.#list = list;
      this.#marks = marks;
      return next;
    } finally {
      this.#opening = undefined;
    }
  }

  #isToRetry(failedAt: number | undefined): boolean {
    return failedAt !== undefined && performance.now() - failedAt >= (this.#options.retryMs ?? RETRY_MS);
  }

  /** Opens a snapshot. If only the list has changed, reuses the open version, because its rows are prepared. */
  async #make({ lake }: Marks, list: WatchListOptions | undefined): Promise<Snapshot> {
    const current = this.#current;
    if (lake === this.#marks.lake && current !== undefined && current.failedAt === undefined)
      return current.withList(list);
    const next = await Snapshot.open(this.#source.lake, { ...this.#options, list });
    // Moves are computed after the list is compared, because computing both at the same time would need too much
    // memory.
    next.whole.catch(() => {}).then(() => this.#keepMoves(next));
    return next;
  }

  #keepMoves(snapshot: Snapshot): void {
    snapshot.version.keepMoves().catch((error: unknown) => {
      // If preparing the rows failed, pages already show that error.
      if (!snapshot.version.isClosed && snapshot.failedAt === undefined) this.#options.report(error);
    });
  }

  #refresh(): Promise<void> {
    const { refresh } = this.#source;
    if (refresh === undefined) return Promise.resolve();
    this.#refreshing ??= refresh().finally(() => {
      this.#refreshing = undefined;
      this.#refreshedAt = performance.now();
    });
    return this.#refreshing;
  }

  /** Reads the fingerprints. The lake's fingerprint changes with each publication, which replaces `lake.json`. */
  async #readMarks(list: WatchListOptions | undefined): Promise<Marks> {
    const read = async (file: string) => {
      const info = await stat(file, { bigint: true }).catch(ignoreMissing);
      return info === undefined ? 'none' : `${file} ${info.ino} ${info.mtimeNs} ${info.size}`;
    };
    const [lake, listed] = await Promise.all([
      read(join(this.#source.lake.root, 'lake.json')),
      list === undefined ? '' : Promise.all([list.list, nameState(list.list)].map(read)).then(String),
    ]);
    return { lake, list: listed };
  }
}
