import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { syncFolder } from '../io/durable.js';
import { PricelakeError } from '../io/errors.js';
import { explainReadFault } from '../io/path-fault.js';

/** The lines of a kind of journal, and the state that they add up to. */
export interface Fold<Entry, State> {
  entry: z.ZodType<Entry>;
  /** The state of an empty journal. */
  start: State;
  /** Why the state does not allow an entry, in words. */
  refuse?: (state: State, entry: Entry) => string | undefined;
  /** Pure, and as cheap after a hundred thousand lines as after one. */
  step: (state: State, entry: Entry) => State;
  /** The state without a damaged line of which nothing is missed; undefined if it may not be left out. */
  skip?: (state: State, line: string) => State | undefined;
  /** True if each line ends with a checksum of all lines up to it. */
  isSealed: boolean;
  /** Advice for a damaged journal. */
  advice: string;
}

/** A list, newest first, that grows without being copied. */
export interface Chain<Value> {
  value: Value;
  before: Chain<Value> | undefined;
}

/** Its values, the oldest first. */
export function listChain<Value>(chain: Chain<Value> | undefined): Value[] {
  const values: Value[] = [];
  for (let one = chain; one !== undefined; one = one.before) values.push(one.value);
  return values.reverse();
}

/** The state of a journal on disk. Changes nothing: another process may be writing it. @throws PricelakeError `lake_invalid` */
export async function readJournal<Entry, State>(path: string, fold: Fold<Entry, State>): Promise<State> {
  return (await readLines(path, fold)).state;
}

/** The entries of a journal on disk, in order. @throws PricelakeError `lake_invalid` */
export async function readEntries<Entry, State>(path: string, fold: Fold<Entry, State>): Promise<Entry[]> {
  const entries: Entry[] = [];
  const collect = (state: State, entry: Entry) => {
    entries.push(entry);
    return fold.step(state, entry);
  };
  await readLines(path, { ...fold, step: collect });
  return entries;
}

/** A journal: append-only lines, synced, and the state that they add up to. */
export class Journal<Entry, State> {
  readonly #fold: Fold<Entry, State>;
  readonly #path: string;
  readonly #file: FileHandle;
  #stands: Standing<State>;
  /** True when a power cut leaves the file its name. */
  #isNamed = false;
  /** Appends run one after the other, so a failed one cuts off only its own lines. */
  #appending: Promise<unknown> = Promise.resolve();

  private constructor(path: string, fold: Fold<Entry, State>, file: FileHandle, stands: Standing<State>) {
    this.#path = path;
    this.#fold = fold;
    this.#file = file;
    this.#stands = stands;
  }

  /** Opens or creates a journal, without a last line that a crash cut short. @throws PricelakeError `lake_invalid` */
  static async open<Entry, State>(path: string, fold: Fold<Entry, State>): Promise<Journal<Entry, State>> {
    const read = await readLines(path, fold);
    if (read.end < read.size) await truncate(path, read.end);
    return new Journal(path, fold, await open(path, 'a'), read);
  }

  /** Includes only durable lines. */
  get state(): State {
    return this.#stands.state;
  }

  /** Advice if it is damaged, or the files that it names. */
  get advice(): string {
    return this.#fold.advice;
  }

  /** Durable when it resolves. @throws PricelakeError `lake_invalid` for an entry that the state does not allow */
  append(...entries: Entry[]): Promise<void> {
    const appended = this.#appending.then(() => this.#write(entries));
    this.#appending = appended.catch(() => {}); // reported to the caller that appends
    return appended;
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    let next = this.#stands;
    const texts: string[] = [];
    for (const entry of entries) {
      const line = toLine(entry);
      next = addEntry(next, entry, addSum(next.sum, line), this.#path, this.#fold);
      texts.push(this.#fold.isSealed ? `${line.slice(0, -1)},"sum":"${next.sum}"}\n` : `${line}\n`);
    }
    const lines = Buffer.from(texts.join(''));
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
      if (!this.#isNamed) await syncFolder(dirname(this.#path));
      this.#isNamed = true;
    } catch (error) {
      // A full disk may keep half of a line, which must not stay before the next one.
      await this.#file.truncate(this.#stands.end).catch(() => {});
      throw error;
    }
    this.#stands = { ...next, end: this.#stands.end + lines.length };
  }

  async close(): Promise<void> {
    await this.#appending;
    await this.#file.close();
  }
}

/** The lines that stand. */
interface Standing<State> {
  state: State;
  lines: number;
  /** End of the lines in the file. */
  end: number;
  sum: string;
}

function addEntry<Entry, State>(
  stands: Standing<State>,
  entry: Entry,
  sum: string,
  path: string,
  { refuse, step, advice }: Fold<Entry, State>,
): Standing<State> {
  const lines = stands.lines + 1;
  const refusal = refuse?.(stands.state, entry);
  if (refusal !== undefined) {
    throw new PricelakeError('lake_invalid', `${path}: line ${lines}: ${refusal}`, { hint: advice });
  }
  return { ...stands, state: step(stands.state, entry), lines, sum };
}

/** A line's own checksum, at its end: of the line without it and of all lines before. */
const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

function addSum(sum: string, line: string): string {
  return createHash('sha256').update(sum).update(line).digest('hex').slice(0, 16);
}

/** The whole lines of a journal; an absent one is empty. */
async function readLines<Entry, State>(path: string, fold: Fold<Entry, State>) {
  const { advice: hint } = fold;
  const bytes = (await readFile(path).catch(explainReadFault(path, hint))) ?? Buffer.alloc(0);
  const end = bytes.lastIndexOf(0x0a) + 1;
  let stands: Standing<State> = { state: fold.start, lines: 0, end, sum: '' };
  for (const text of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) {
    const where = `${path}: line ${stands.lines + 1}`;
    const [tail = '', claimed] = SUM.exec(text) ?? [];
    const line = tail === '' ? text : `${text.slice(0, -tail.length)}}`;
    const sum = addSum(stands.sum, line);
    const entry = readEntry(line, where, fold);
    if (entry instanceof PricelakeError) {
      const state = fold.skip?.(stands.state, line);
      if (state === undefined) throw entry;
      stands = { ...stands, state, lines: stands.lines + 1, sum };
      continue;
    }
    if (claimed === undefined && fold.isSealed)
      throw new PricelakeError('lake_invalid', `${where} has no checksum`, { hint });
    if (claimed !== undefined && claimed !== sum) {
      const what = `${where} or one before it has changed since it was written: its checksum differs`;
      throw new PricelakeError('lake_invalid', what, { hint });
    }
    stands = addEntry(stands, entry, sum, path, fold);
  }
  return { ...stands, size: bytes.length };
}

/** An entry, or why the line is none. */
function readEntry<Entry, State>(
  line: string,
  where: string,
  { entry, advice }: Fold<Entry, State>,
): Entry | PricelakeError {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    return new PricelakeError('lake_invalid', `${where} is damaged`, { hint: advice }, { cause });
  }
  const read = entry.safeParse(value);
  if (read.success) return read.data;
  const wrong = read.error.issues.find(({ code }) => code === 'custom');
  if (wrong !== undefined) {
    return new PricelakeError('lake_invalid', `${where} is damaged: ${wrong.message}`, { hint: advice });
  }
  return new PricelakeError(
    'lake_invalid',
    `${where} has something that this version doesn't know`,
    { hint: `If a newer version wrote it, continue with that version. If it is damaged: ${advice}` },
    { cause: read.error },
  );
}

/** An entry as its line, without checksum and newline. */
function toLine(entry: unknown): string {
  return JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}
