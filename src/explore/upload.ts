import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchListOptions } from '../analyze/watch-list.js';
import { PricelakeError } from '../io/errors.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import type { Snapshots } from './snapshots.js';

/** The maximum size of an uploaded price list, which allows about 200,000 lines. */
export const MOST_LIST_BYTES = 8_000_000;

/** Accepts price lists from the browser. A list is deleted when another list replaces it or the server stops. */
export class Uploads {
  #folder: Promise<string> | undefined;
  /** The path of the current list. */
  #file: string | undefined;
  readonly #snapshots: Snapshots;

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  /**
   * Reads an uploaded price list from a form and makes it the current list. If the form has no file, removes the
   * current list. If the list is invalid, keeps the current list.
   * @throws PricelakeError `usage` or `config` if the form or the list is invalid
   */
  async take(form: FormData): Promise<void> {
    const file = form.get('list');
    if (!(file instanceof File) || file.size === 0) {
      await this.#snapshots.useList(undefined);
      return this.#keep(undefined);
    }
    const options = readOptions(form);
    this.#folder ??= makeScratchFolder('lists');
    const path = join(await this.#folder, `${randomUUID()}.csv`);
    await writeFile(path, Buffer.from(await file.arrayBuffer()), { mode: 0o600 });
    try {
      await this.#snapshots.useList({ list: path, ...options });
    } catch (error) {
      await rm(path, { force: true });
      // Replaces the path of the temporary file, which means nothing to the reader.
      if (!(error instanceof PricelakeError)) throw error;
      throw new PricelakeError(error.code, error.message.replaceAll(path, 'the list'), error.facts, { cause: error });
    }
    await this.#keep(path);
  }

  /** Records the current list's file, and deletes the previous one. */
  async #keep(file: string | undefined): Promise<void> {
    if (this.#file !== undefined) await rm(this.#file, { force: true });
    this.#file = file;
  }

  async close(): Promise<void> {
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }
}

function readOptions(form: FormData): Pick<WatchListOptions, 'currency' | 'ownSite'> {
  const [currency, site] = ['currency', 'own_site'].map((name) => String(form.get(name) ?? '').trim());
  if (currency !== '' && !/^[A-Z]{3}$/u.test(currency ?? '')) {
    throw new PricelakeError('usage', 'The currency is not an ISO 4217 code such as EUR.');
  }
  if (site !== '' && !/^\d{1,18}$/u.test(site ?? '')) {
    throw new PricelakeError('usage', 'Your own shop is not a site_id, which is a whole number.');
  }
  return { ...(currency === '' ? {} : { currency }), ...(site === '' ? {} : { ownSite: BigInt(site ?? '') }) };
}
