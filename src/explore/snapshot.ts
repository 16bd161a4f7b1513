import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { WatchListOptions } from '../analyze/watch-list.js';
import type { Lake } from '../tables/layout.js';
import { LakeVersion, type PublishedRun, type Variables, type VersionOptions } from './lake-version.js';
import { OwnList } from './own-list.js';

export interface SnapshotOptions extends VersionOptions {
  list?: WatchListOptions | undefined;
}

/** The data that pages show: one version of the lake, and the reader's price list. */
export class Snapshot {
  readonly list: OwnList | undefined;
  readonly version: LakeVersion;
  #users = 0;
  #isRetired = false;
  #closed: Promise<void> | undefined;

  private constructor(version: LakeVersion, list: OwnList | undefined) {
    this.version = version;
    this.list = list;
    version.hold();
  }

  /**
   * Opens the published version of a lake.
   * @throws PricelakeError `lake_invalid` if a table can't be read, `usage` if the list can't be read, or `config`,
   *   with the first bad line, if the list is invalid
   */
  static async open(lake: Lake, { list, ...options }: SnapshotOptions): Promise<Snapshot> {
    const version = await LakeVersion.open(lake, options);
    const plain = new Snapshot(version, undefined);
    if (list === undefined) return plain;
    try {
      return await plain.withList(list);
    } finally {
      await plain.close();
    }
  }

  /**
   * Returns a snapshot of this version with another price list, or without a list.
   * @throws PricelakeError as `open` does
   */
  async withList(list: WatchListOptions | undefined): Promise<Snapshot> {
    return new Snapshot(this.version, list && (await OwnList.read(this.version, list)));
  }

  get run(): PublishedRun | undefined {
    return this.version.facts.run;
  }

  get name(): string {
    return this.version.facts.name;
  }

  get credits(): readonly string[] {
    return this.version.facts.credits;
  }

  get scratch(): string {
    return this.version.scratch;
  }

  /** The nested queries whose rows are already stored in a table. */
  get prepared(): ReadonlySet<string> {
    return this.version.prepared.names;
  }

  /** Resolves when all prepared rows and the list are ready; rejects if they can't be made. */
  get whole(): Promise<unknown> {
    return Promise.all([this.version.prepared.all, this.list?.made]);
  }

  get isWhole(): boolean {
    return this.version.prepared.isReady && this.list?.isMade !== false;
  }

  /** The time at which preparing rows failed, in milliseconds of `performance.now()`; undefined if it hasn't failed. */
  get failedAt(): number | undefined {
    return this.version.prepared.failedAt ?? this.list?.failedAt;
  }

  /** Runs `work` with a session, as `LakeVersion.lend` does. The session also has the tables of the list. */
  lend<T>(variables: Variables, signal: AbortSignal, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return this.version.lend(variables, signal, work, this.list?.schema);
  }

  /** Runs an SQL statement of this program, not of a reader, and returns its rows. */
  rows(sql: string, values: DuckDBValue[] = []): Promise<Record<string, DuckDBValue>[]> {
    return this.version.statements().rows(sql, values);
  }

  /** Keeps the snapshot open while `work` runs, even if a newer snapshot replaces it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#isRetired && this.#users === 0) await this.close();
    }
  }

  /** Closes the snapshot as soon as it is not in use. */
  retire(): void {
    this.#isRetired = true;
    if (this.#users === 0) this.close().catch(() => {}); // if closing fails, a temporary folder remains
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.version.release();
    if (!this.version.isClosed) this.list?.drop(this.version).catch(() => {}); // fails if the version is closed first
  }
}
