import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lake } from '../lake/lake.js';
import { ignoreMissing } from '../tables/layout.js';
import { Snapshot, type SnapshotOptions } from './snapshot.js';

/** The newest snapshot of a lake. Runs may publish at any time: a new snapshot takes the place of the old one. */
export class Snapshots {
  readonly #lake: Lake;
  readonly #options: SnapshotOptions;
  #mark = '';
  #current: Snapshot | undefined;
  #opening: Promise<Snapshot> | undefined;

  constructor(lake: Lake, options: SnapshotOptions) {
    this.#lake = lake;
    this.#options = options;
  }

  /**
   * Lends the newest snapshot. While a newer one opens, the present one is lent.
   * @throws PricelakeError `lake_invalid` if the lake can't be read
   */
  async use<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const mark = await this.#readMark();
    if (mark !== this.#mark || this.#current === undefined) this.#opening ??= this.#open(mark);
    const snapshot = this.#current ?? (await this.#opening);
    if (snapshot === undefined) throw new TypeError('no snapshot was opened');
    return snapshot.use(() => work(snapshot));
  }

  /** Waits for a snapshot of the lake as it is now: a run has removed files of the present one. */
  async renew(): Promise<void> {
    this.#opening ??= this.#open(await this.#readMark());
    await this.#opening;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#opening]);
    await this.#current?.close();
  }

  async #open(mark: string): Promise<Snapshot> {
    try {
      const next = await Snapshot.open(this.#lake, this.#options);
      this.#current?.retire();
      this.#current = next;
      this.#mark = mark;
      return next;
    } finally {
      this.#opening = undefined;
    }
  }

  /** Changes with each publication, because `lake.json` is replaced, and with the price list. */
  async #readMark(): Promise<string> {
    const { list } = this.#options.list ?? {};
    const files = [join(this.#lake.root, 'lake.json'), ...(list === undefined ? [] : [list])];
    const infos = await Promise.all(files.map((file) => stat(file, { bigint: true }).catch(ignoreMissing)));
    return infos.map((info) => (info === undefined ? 'none' : `${info.ino} ${info.mtimeNs} ${info.size}`)).join();
  }
}
