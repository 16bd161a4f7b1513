import { readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ignoreMissing } from '../../io/errors.js';
import { runSideBySide } from '../../io/side-by-side.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { listFilesBelow } from '../../lake/list-files.js';
import { readTable } from '../../lake/read.js';
import { PRIVATE_FOLDER, privatePath } from '../../tables/layout.js';
import type { Ends } from './remote-table.js';
import { FILES } from './send-tables.js';

const JOURNAL = 'journal.ndjson';
/** The folders that contain downloaded data that no table contains yet. */
const MIRRORED = ['landing', 'backfill'].map((name) => `${PRIVATE_FOLDER}/${name}/`);

/**
 * Copies the files that an unfinished run has downloaded to the remote, so that another machine can continue the run. A
 * journal is read before the files to which it refers, and uploaded after them. The remote's journal therefore never
 * refers to a missing file.
 */
export class LandingMirror {
  readonly #ends: Ends;
  /**
   * The size and the modification time of each file that this process has uploaded. A file that an earlier process
   * uploaded is uploaded again, because it may have been truncated since then.
   */
  readonly #sent = new Map<string, { state: string; done: Promise<void> }>();
  #sending: Promise<void> = Promise.resolve();

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  save(): Promise<void> {
    return this.#queue(async () => void (await this.#send()));
  }

  /** Uploads changed files, then deletes unneeded ones unless `confirm` throws. Call this after all commits are uploaded. */
  settle(confirm: () => Promise<void>): Promise<void> {
    return this.#queue(async () => this.#removeOthers(await this.#send(), confirm));
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#sending.then(work);
    this.#sending = done.catch(() => {}); // the caller handles the error of `done`
    return done;
  }

  /** Uploads new and changed files. @returns the keys of all files, including files that were already uploaded */
  async #send(): Promise<Set<string>> {
    const { lake } = this.#ends;
    const { applied } = await readTable(lake, 'runs');
    const run = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
    const folders = [privatePath(lake, 'backfill'), ...(run === undefined ? [] : [run.folder])];
    const keys = new Set<string>();
    for (const folder of folders) for (const key of await this.#sendFolder(folder)) keys.add(key);
    return keys;
  }

  /** Uploads the new and changed files of a folder. @returns the keys of all files in the folder */
  async #sendFolder(folder: string): Promise<string[]> {
    const journal = await readFile(join(folder, JOURNAL)).catch(ignoreMissing);
    if (journal === undefined) return [];
    const whole = journal.subarray(0, journal.lastIndexOf('\n') + 1);
    const files = (await listFilesBelow(folder)).filter((path) => path !== join(folder, JOURNAL));
    const sent = await runSideBySide(FILES, files, async (path) => {
      const bytes = await this.sendFile(path).catch(ignoreMissing);
      return bytes === undefined ? [] : [this.#keyOf(path)];
    });
    const keys = sent.flat();
    const key = this.#keyOf(join(folder, JOURNAL));
    await this.#sendOnce(key, String(whole.length), () => this.#ends.store.write(key, whole));
    return [...keys, key];
  }

  /** Uploads a file, unless it was uploaded or is being uploaded. @returns the number of bytes that this call sent */
  async sendFile(path: string): Promise<number> {
    const { size, mtimeMs } = await stat(path);
    const key = this.#keyOf(path);
    const isNew = await this.#sendOnce(key, `${size} ${mtimeMs}`, () => this.#ends.store.upload(key, path, size));
    return isNew ? size : 0;
  }

  async #sendOnce(key: string, state: string, send: () => Promise<void>): Promise<boolean> {
    const before = this.#sent.get(key);
    if (before?.state === state) {
      await before.done;
      return false;
    }
    const done = send();
    this.#sent.set(key, { state, done });
    try {
      await done;
    } catch (error) {
      this.#sent.delete(key);
      throw error;
    }
    return true;
  }

  /** Deletes files that aren't wanted. Deletes a journal before its data, because data without a journal is ignored. */
  async #removeOthers(wanted: Set<string>, confirm: () => Promise<void>): Promise<void> {
    const { store } = this.#ends;
    const present = (await Promise.all(MIRRORED.map((folder) => store.list(folder)))).flat().map(({ key }) => key);
    const others = present.filter((key) => !wanted.has(key));
    if (others.length > 0) await confirm();
    const isJournal = (key: string) => key.endsWith(`/${JOURNAL}`);
    await store.remove(others.filter(isJournal));
    await store.remove(others.filter((key) => !isJournal(key)));
    for (const key of others) this.#sent.delete(key);
  }

  #keyOf(path: string): string {
    return relative(this.#ends.lake.root, path).split(sep).join('/');
  }
}
