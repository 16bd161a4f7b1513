import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { runSideBySide } from '../io/side-by-side.js';
import { peekUnfinishedRun } from '../journal/landings.js';
import { ignoreMissing, PRIVATE_FOLDER, privatePath } from '../lake/layout.js';
import { readTable } from '../lake/read.js';
import { type Ends, FILES } from './send-tables.js';

const JOURNAL = 'journal.ndjson';
/** Folders of the remote that hold what was paid for and is in no table yet. */
export const MIRRORED = ['landing', 'backfill'].map((name) => `${PRIVATE_FOLDER}/${name}/`);

/**
 * What an unfinished run has landed, on the remote: another machine can continue with it. A journal is sent behind the files
 * that it names, as it was before they were read, so it never names what is missing.
 */
export class LandingMirror {
  readonly #ends: Ends;
  /** Size and time of each file as this process sent it. What an earlier one sent isn't trusted: it may have been cut since. */
  readonly #sent = new Map<string, string>();
  #present: Set<string> | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  /** Sends what has landed since the last time. */
  save(): Promise<void> {
    return this.#queue(async () => void (await this.#send()));
  }

  /** The same, and what no run needs any longer goes: call it when all that was committed is on the remote. */
  settle(): Promise<void> {
    return this.#queue(async () => this.#removeOthers(await this.#send()));
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#sending.then(work);
    this.#sending = done.catch(() => {}); // reported to the caller
    return done;
  }

  /** @returns the keys of all that is there */
  async #send(): Promise<Set<string>> {
    const { store, lake } = this.#ends;
    this.#present ??= new Set((await Promise.all(MIRRORED.map((key) => store.list(key)))).flat().map(({ key }) => key));
    const { applied } = await readTable(lake, 'runs');
    const run = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
    const folders = [privatePath(lake, 'backfill'), ...(run === undefined ? [] : [run.folder])];
    const keys = new Set<string>();
    for (const folder of folders) for (const key of await this.#sendFolder(folder)) keys.add(key);
    return keys;
  }

  /** @returns the keys of all that the folder holds */
  async #sendFolder(folder: string): Promise<string[]> {
    const journal = await readFile(join(folder, JOURNAL)).catch(ignoreMissing);
    if (journal === undefined) return [];
    const whole = journal.subarray(0, journal.lastIndexOf('\n') + 1);
    const files = (await listFiles(folder)).filter((path) => path !== join(folder, JOURNAL));
    const sent = await runSideBySide(FILES, files, (path) => this.#sendFile(path));
    const keys = sent.filter((key) => key !== undefined);
    const key = this.#keyOf(join(folder, JOURNAL));
    if (this.#sent.get(key) !== String(whole.length)) await this.#ends.store.write(key, whole);
    this.#note(key, String(whole.length));
    return [...keys, key];
  }

  async #sendFile(path: string): Promise<string | undefined> {
    const info = await stat(path).catch(ignoreMissing);
    if (info === undefined) return undefined;
    const key = this.#keyOf(path);
    const state = `${info.size} ${info.mtimeMs}`;
    if (this.#sent.get(key) !== state) await this.#ends.store.upload(key, path, info.size);
    this.#note(key, state);
    return key;
  }

  #note(key: string, state: string): void {
    this.#sent.set(key, state);
    this.#present?.add(key);
  }

  /** Journals first: a landing without one counts as none. */
  async #removeOthers(wanted: Set<string>): Promise<void> {
    const others = [...(this.#present ?? [])].filter((key) => !wanted.has(key));
    const isJournal = (key: string) => key.endsWith(`/${JOURNAL}`);
    await this.#ends.store.remove(others.filter(isJournal));
    await this.#ends.store.remove(others.filter((key) => !isJournal(key)));
    for (const key of others) this.#present?.delete(key);
    for (const key of others) this.#sent.delete(key);
  }

  #keyOf(path: string): string {
    return relative(this.#ends.lake.root, path).split(sep).join('/');
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries: Dirent[] =
    (await readdir(folder, { withFileTypes: true, recursive: true }).catch(ignoreMissing)) ?? [];
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
