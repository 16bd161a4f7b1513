import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchListOptions } from '../analyze/watch-list.js';
import type { Lake } from '../lake/lake.js';
import { ignoreMissing } from '../tables/layout.js';
import { Snapshot, type SnapshotOptions } from './snapshot.js';

/** The files of a lake. */
export interface LakeSource {
  lake: Lake;
  /** Brings to this machine what a remote has published since. Undefined for a lake of this machine. */
  refresh?: (() => Promise<void>) | undefined;
}

export interface SnapshotsOptions extends SnapshotOptions {
  /** A remote is looked at again after so many milliseconds; default a minute. */
  refreshMs?: number | undefined;
  /** Notes that a remote could not be looked at, or a new run not be opened. Pages show the present snapshot. */
  report(error: unknown): void;
}

const REFRESH_MS = 60_000;

/** The newest snapshot of a lake. Runs may publish at any time: a new snapshot takes the place of the old one. */
export class Snapshots {
  readonly #source: LakeSource;
  readonly #options: SnapshotsOptions;
  #list: WatchListOptions | undefined;
  #mark = '';
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
   * Lends the newest snapshot. While a newer one opens, the present one is lent.
   * @throws PricelakeError `lake_invalid` if no snapshot could be opened
   */
  async use<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { refreshMs = REFRESH_MS, report } = this.#options;
    if (performance.now() - this.#refreshedAt > refreshMs) this.#refresh().catch(report);
    const mark = await this.#readMark(this.#list);
    if (mark !== this.#mark || this.#current === undefined) {
      this.#opening ??= this.#open(mark, this.#list);
      if (this.#current !== undefined) this.#opening.catch(report);
    }
    const snapshot = this.#current ?? (await this.#opening);
    if (snapshot === undefined) throw new TypeError('no snapshot was opened');
    return snapshot.use(() => work(snapshot));
  }

  /** Waits for a snapshot of the lake as it is now. @throws PricelakeError `lake_invalid` if it can't be read */
  async renew(): Promise<void> {
    await this.#refresh();
    // One that is opening may have begun before the lake changed.
    await Promise.allSettled([this.#opening]);
    const mark = await this.#readMark(this.#list);
    this.#opening ??= this.#open(mark, this.#list);
    await this.#opening;
  }

  /** Shows another price list, or none. @throws PricelakeError as `createWatched`; the present list stays then */
  async useList(list: WatchListOptions | undefined): Promise<void> {
    const mark = await this.#readMark(list);
    while (this.#opening !== undefined) await Promise.allSettled([this.#opening]);
    this.#opening = this.#open(mark, list);
    await this.#opening;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#refreshing, this.#opening]);
    await this.#current?.close();
  }

  async #open(mark: string, list: WatchListOptions | undefined): Promise<Snapshot> {
    try {
      const next = await Snapshot.open(this.#source.lake, { ...this.#options, list });
      this.#current?.retire();
      this.#current = next;
      this.#list = list;
      this.#mark = mark;
      return next;
    } finally {
      this.#opening = undefined;
    }
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

  /** Changes with each publication, because `lake.json` is replaced, and with the price list. */
  async #readMark(list: WatchListOptions | undefined): Promise<string> {
    const files = [join(this.#source.lake.root, 'lake.json'), ...(list === undefined ? [] : [list.list])];
    const infos = await Promise.all(files.map((file) => stat(file, { bigint: true }).catch(ignoreMissing)));
    return infos.map((info) => (info === undefined ? 'none' : `${info.ino} ${info.mtimeNs} ${info.size}`)).join();
  }
}
