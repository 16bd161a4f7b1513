import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compareWatchList, loadWatchList, nameState, type WatchListOptions } from '../analyze/watch-list.js';
import { PricelakeError } from '../io/errors.js';
import { readAnalysis } from '../sql/model.js';
import type { LakeVersion } from './lake-version.js';

/**
 * The reader's price list, compared with the prices of one version of the lake. The result is stored in two tables,
 * `found` and `watched`, in a separate schema.
 */
export class OwnList {
  readonly options: WatchListOptions;
  /** The name of the schema with the tables. */
  readonly schema: string;
  /** Resolves when the tables are ready; rejects if they can't be made. */
  readonly made: Promise<void>;
  #isMade = false;
  #failedAt: number | undefined;

  private constructor(version: LakeVersion, options: WatchListOptions, schema: string) {
    this.options = options;
    this.schema = schema;
    this.made = this.#make(version).then(() => {
      this.#isMade = true;
    });
    // The error isn't reported here, because each query that needs the tables reports it.
    this.made.catch(() => {
      this.#failedAt = performance.now();
    });
  }

  /**
   * The time at which creating the tables failed, in milliseconds of `performance.now()`; undefined if it hasn't
   * failed.
   */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** Reads a list. @throws PricelakeError `usage` if it can't be read, or `config`, with the line, if it is invalid */
  static async read(version: LakeVersion, options: WatchListOptions): Promise<OwnList> {
    return new OwnList(version, options, await load(version, options));
  }

  /** Checks that a list is valid, without comparing prices. @throws PricelakeError as `read` does */
  static async check(version: LakeVersion, options: WatchListOptions): Promise<void> {
    await drop(version, await load(version, options));
  }

  get isMade(): boolean {
    return this.#isMade;
  }

  /** Drops the tables while the version stays open. */
  async drop(version: LakeVersion): Promise<void> {
    await Promise.allSettled([this.made]);
    await drop(version, this.schema);
  }

  async #make(version: LakeVersion): Promise<void> {
    await version.prepared.all;
    const db = version.statements(this.schema);
    const compare = (before?: string) =>
      compareWatchList(db, { ...this.options, before, now: new Date() }, { hasSpells: true });
    const before = join(version.scratch, `${this.schema}.watch.parquet`);
    try {
      await copyFile(nameState(this.options.list), before);
      await compare(before);
    } catch {
      // The state file of `watch` is missing or was written by another version of pricelake, so the list is compared
      // without showing what changed after the last run of `watch`.
      await compare();
    } finally {
      await rm(before, { force: true });
    }
    const clock = readAnalysis('data_clock', version.prepared.names);
    await db.run(`CREATE TABLE clock AS SELECT seen_us AS now_us FROM (${clock})`);
  }
}

async function load(version: LakeVersion, options: WatchListOptions): Promise<string> {
  const schema = version.nextSchema();
  const copy = join(version.scratch, `${schema}.csv`);
  await version.statements().run(`CREATE SCHEMA ${schema}`);
  try {
    const db = version.statements(schema);
    await loadWatchList(db, options, copy);
    await db.run('CREATE VIEW own_products AS SELECT product_id FROM watch_list WHERE product_id IS NOT NULL');
    return schema;
  } catch (error) {
    await drop(version, schema);
    if (!(error instanceof PricelakeError)) throw error;
    // Replaces the path of the temporary copy with the name of the reader's file.
    throw new PricelakeError(error.code, error.message.replaceAll(copy, options.list), error.facts, { cause: error });
  } finally {
    await rm(copy, { force: true });
  }
}

const drop = (version: LakeVersion, schema: string) => version.statements().run(`DROP SCHEMA ${schema} CASCADE`);
