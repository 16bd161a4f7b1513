import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nameState, type WatchListOptions } from '../analyze/watch-list.js';
import { ignoreMissing } from '../io/errors.js';
import type { Lake } from '../tables/layout.js';
import { Snapshot, type SnapshotOptions } from './snapshot.js';

/** The lake, and how to update it. */
export interface LakeSource {
  lake: Lake;
  /** Fetches what a remote has published since. Undefined for a lake on this machine. */
  refresh?: (() => Promise<void>) | undefined;
}

export interface SnapshotsOptions extends SnapshotOptions {
  /** Milliseconds after which a remote is read again; default a minute. */
  refreshMs?: number | undefined;
  /** Milliseconds after which failed preparing is tried again for a page; default a minute. */
  retryMs?: number | undefined;
  /** Logs that a remote could not be read or a new run not be opened. Pages show the current snapshot. */
  report(error: unknown): void;
}

const REFRESH_MS = 60_000;
export const RETRY_MS = 60_000;

/** Identify the files behind a snapshot. If any mark changes, the snapshot is outdated. */
interface Marks {
  lake: string;
  list: string;
}

/** Holds the newest snapshot of a lake. When a run publishes, a new snapshot replaces the old one. */
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
   * Lends the newest snapshot. While a newer one is being opened, lends the current one.
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

  /**
   * Waits for a snapshot of the lake in its current state. @throws PricelakeError `lake_invalid` if it can't be read
   */
  async renew(): Promise<void> {
    await this.#refresh();
    // A snapshot that is being opened may have begun before the lake changed.
    await Promise.allSettled([this.#opening]);
    this.#marks = { lake: '', list: '' };
    const marks = await this.#readMarks(this.#list);
    this.#opening ??= this.#open(marks, this.#list);
    await this.#opening;
  }

  /** Shows another price list, or none. @throws PricelakeError as `Snapshot.open` does; then the current list stays */
  async useList(list: WatchListOptions | undefined): Promise<void> {
    const marks = await this.#readMarks(list);
    while (this.#opening !== undefined) await Promise.allSettled([this.#opening]);
    this.#opening = this.#open(marks, list);
    const { version, list: own } = await this.#opening;
    // Over prepared rows, this takes less than a second.
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

  /** If only the list changes, the open version is used again, because its rows are prepared. */
  async #make({ lake }: Marks, list: WatchListOptions | undefined): Promise<Snapshot> {
    const current = this.#current;
    if (lake === this.#marks.lake && current !== undefined && current.failedAt === undefined)
      return current.withList(list);
    const next = await Snapshot.open(this.#source.lake, { ...this.#options, list });
    // Moves are kept after the list is compared, because both take much memory.
    next.whole.catch(() => {}).then(() => this.#keepMoves(next));
    return next;
  }

  #keepMoves(snapshot: Snapshot): void {
    snapshot.version.keepMoves().catch((error: unknown) => {
      // A failure to prepare rows is not logged here, because pages show it.
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

  /** Reads the marks. The lake's mark changes with each publication, because `lake.json` is replaced. */
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
