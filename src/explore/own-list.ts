import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compareWatchList, loadWatchList, nameState, type WatchListOptions } from '../analyze/watch-list.js';
import { PricelakeError } from '../io/errors.js';
import { readAnalysis } from '../sql/model.js';
import type { LakeVersion } from './lake-version.js';

/**
 * The reader's own price list, compared with the prices of a version: tables `found` and `watched` in a schema of their
 * own.
 */
export class OwnList {
  readonly options: WatchListOptions;
  /** The schema that holds the tables. */
  readonly schema: string;
  /** Resolves when the tables are made. Rejects if that fails. */
  readonly made: Promise<void>;
  #isMade = false;
  #failedAt: number | undefined;

  private constructor(version: LakeVersion, options: WatchListOptions, schema: string) {
    this.options = options;
    this.schema = schema;
    this.made = this.#make(version).then(() => {
      this.#isMade = true;
    });
    // Every question that needs the tables gets the error.
    this.made.catch(() => {
      this.#failedAt = performance.now();
    });
  }

  /** The time, by the clock of `performance`, at which making the tables failed. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** @throws PricelakeError `usage` if the list can't be read, `config` that names its first bad line */
  static async read(version: LakeVersion, options: WatchListOptions): Promise<OwnList> {
    return new OwnList(version, options, await load(version, options));
  }

  /** Reads a list without comparing it. @throws PricelakeError as `read` */
  static async check(version: LakeVersion, options: WatchListOptions): Promise<void> {
    await drop(version, await load(version, options));
  }

  get isMade(): boolean {
    return this.#isMade;
  }

  /** Removes the tables from a version that stays open. */
  async drop(version: LakeVersion): Promise<void> {
    await Promise.allSettled([this.made]);
    await drop(version, this.schema);
  }

  /** Makes the tables. Prices of the past are sorted so that those of the listed products are found quickly. */
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
      // The last result of `watch` is missing or was written by another version of pricelake, so the list is compared
      // without changes.
      await compare();
    } finally {
      await rm(before, { force: true });
    }
    const clock = readAnalysis('data_clock', version.prepared.names);
    await db.run(`CREATE TABLE clock AS SELECT seen_us AS now_us FROM (${clock})`);
  }
}

/** Reads a list into a schema of its own. */
async function load(version: LakeVersion, options: WatchListOptions): Promise<string> {
  const schema = version.nextSchema();
  const copy = join(version.scratch, `${schema}.csv`);
  await version.statements().run(`CREATE SCHEMA ${schema}`);
  try {
    await loadWatchList(version.statements(schema), options, copy);
    return schema;
  } catch (error) {
    await drop(version, schema);
    if (!(error instanceof PricelakeError)) throw error;
    // The reader knows the file by this name.
    throw new PricelakeError(error.code, error.message.replaceAll(copy, options.list), error.facts, { cause: error });
  } finally {
    await rm(copy, { force: true });
  }
}

const drop = (version: LakeVersion, schema: string) => version.statements().run(`DROP SCHEMA ${schema} CASCADE`);
