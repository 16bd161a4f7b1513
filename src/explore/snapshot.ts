import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type { WatchListOptions } from '../analyze/watch-list.js';
import type { Lake } from '../tables/layout.js';
import { LakeVersion, type PublishedRun, type Variables, type VersionOptions } from './lake-version.js';
import { OwnList } from './own-list.js';

export interface SnapshotOptions extends VersionOptions {
  /** The reader's own price list. */
  list?: WatchListOptions | undefined;
}

/** The data that pages show: a version of the lake, and the reader's own price list. */
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
   * @throws PricelakeError `lake_invalid` if a table can't be read, `usage` if the list can't be read, `config` that
   *   names the list's first bad line
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

  /** The same version with another list, or without one. @throws PricelakeError as `open` does */
  async withList(list: WatchListOptions | undefined): Promise<Snapshot> {
    return new Snapshot(this.version, list && (await OwnList.read(this.version, list)));
  }

  get run(): PublishedRun | undefined {
    return this.version.facts.run;
  }

  /** The name of the pipeline, or of the folder. */
  get name(): string {
    return this.version.facts.name;
  }

  /** Licence and credit texts of open-data websites. */
  get credits(): readonly string[] {
    return this.version.facts.credits;
  }

  /** A folder that DuckDB may write to. */
  get scratch(): string {
    return this.version.scratch;
  }

  /** Nested queries whose rows are already prepared. */
  get prepared(): ReadonlySet<string> {
    return this.version.prepared.names;
  }

  /** Resolves when all prepared rows and those of the list are made. Rejects if that fails. */
  get whole(): Promise<unknown> {
    return Promise.all([this.version.prepared.all, this.list?.made]);
  }

  get isWhole(): boolean {
    return this.version.prepared.isReady && this.list?.isMade !== false;
  }

  /** The time at which preparing rows failed. Another snapshot may succeed. */
  get failedAt(): number | undefined {
    return this.version.prepared.failedAt ?? this.list?.failedAt;
  }

  /** Lends a session as `LakeVersion.lend` does. It also has the tables of the list. */
  lend<T>(variables: Variables, signal: AbortSignal, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return this.version.lend(variables, signal, work, this.list?.schema);
  }

  /** Reads the rows of one of our own statements. */
  rows(sql: string, values: DuckDBValue[] = []): Promise<Record<string, DuckDBValue>[]> {
    return this.version.statements().rows(sql, values);
  }

  /** Keeps the snapshot open until `work` ends, even if a newer one replaces it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#isRetired && this.#users === 0) await this.close();
    }
  }

  /** Closes the snapshot once nobody uses it. */
  retire(): void {
    this.#isRetired = true;
    if (this.#users === 0) this.close().catch(() => {}); // a temporary folder may remain
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.version.release();
    if (!this.version.isClosed) this.list?.drop(this.version).catch(() => {}); // it may be closed meanwhile
  }
}
