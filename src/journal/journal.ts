import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { syncFolder } from '../io/durable.js';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { explainReadFault } from '../io/path-fault.js';

/** The rules of a kind of journal: which entries it can contain, and how they determine its state. */
export interface Fold<Entry, State> {
  entry: z.ZodType<Entry>;
  /** The state of an empty journal. */
  start: State;
  /** Returns the reason why an entry isn't allowed in this state, or undefined if it is allowed. */
  refuse?: (state: State, entry: Entry) => string | undefined;
  /** Returns the state after an entry. It must be a pure function, and its run time must not grow with the journal. */
  step: (state: State, entry: Entry) => State;
  /** Returns the state after skipping a damaged line, or undefined if the line must not be skipped. */
  skip?: (state: State, line: string) => State | undefined;
  /**
   * With `chain`, a line's checksum covers this line and all lines before it. With `line`, the checksum covers only the
   * line itself, so that people can remove other lines.
   */
  seal: 'chain' | 'line';
  advice: string;
}

/** Reads the state of a journal, which another process may be writing. @throws PricelakeError `lake_invalid` */
export async function readJournal<Entry, State>(path: string, fold: Fold<Entry, State>): Promise<State> {
  return (await readLines(path, fold)).state;
}

/** An append-only file whose lines are synced, and the state that these lines determine. */
export class Journal<Entry, State> {
  readonly #fold: Fold<Entry, State>;
  readonly #path: string;
  readonly #file: FileHandle;
  #stands: Standing<State>;
  /** True once the folder is synced. From then on, the new file survives a power failure. */
  #isNamed = false;
  /** The last append. Appends don't overlap, so a failed append can truncate the file without removing other lines. */
  #appending: Promise<unknown> = Promise.resolve();

  private constructor(path: string, fold: Fold<Entry, State>, file: FileHandle, stands: Standing<State>) {
    this.#path = path;
    this.#fold = fold;
    this.#file = file;
    this.#stands = stands;
  }

  /** Opens or creates a journal. Removes an incomplete entry at the end, with a warning. @throws PricelakeError `lake_invalid` */
  static async open<Entry, State>(
    path: string,
    fold: Fold<Entry, State>,
    io?: Pick<Io, 'log'>,
  ): Promise<Journal<Entry, State>> {
    const read = await readLines(path, fold);
    if (read.end < read.size) {
      io?.log('warn', 'journal.torn', { file: path, line: read.lines + 1, bytes: read.size - read.end });
      await truncate(path, read.end);
    }
    return new Journal(path, fold, await open(path, 'a'), read);
  }

  get state(): State {
    return this.#stands.state;
  }

  get advice(): string {
    return this.#fold.advice;
  }

  /** Appends and syncs entries. @throws PricelakeError `lake_invalid` if an entry isn't allowed in the current state */
  append(...entries: Entry[]): Promise<void> {
    const appended = this.#appending.then(() => this.#write(entries));
    this.#appending = appended.catch(() => {}); // the caller of `append` gets this error
    return appended;
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    let next = this.#stands;
    const texts: string[] = [];
    for (const [index, entry] of entries.entries()) {
      const line = toLine(entry);
      next = addEntry(next, entry, addSum(before(next.sum, this.#fold), line, index > 0), this.#path, this.#fold);
      texts.push(`${line.slice(0, -1)},"sum":"${next.sum}"}\n`);
    }
    const lines = Buffer.from(texts.join(''));
    await this.#refuseDetached();
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
      if (!this.#isNamed) await syncFolder(dirname(this.#path));
      this.#isNamed = true;
    } catch (error) {
      // A full disk may leave half a line. It is removed, because the next line would otherwise be appended to it.
      await this.#file.truncate(this.#stands.end).catch(() => {});
      throw error;
    }
    this.#stands = { ...next, end: this.#stands.end + lines.length };
  }

  /** Throws if another process has taken over the lock, and has therefore replaced the file with a copy. */
  async #refuseDetached(): Promise<void> {
    const [own, now] = [await this.#file.stat(), await stat(this.#path).catch(ignoreMissing)];
    if (now !== undefined && (now.ino !== own.ino || now.dev !== own.dev))
      throw new PricelakeError('lake_locked', `${this.#path}: another process is continuing this run`, {
        hint: 'Run the same command again when that process has ended.',
      });
  }

  async close(): Promise<void> {
    await this.#appending;
    await this.#file.close();
  }
}

/** The state after the synced lines, and the position in the file at which these lines end. */
interface Standing<State> {
  state: State;
  lines: number;
  /** The offset after the last line, in bytes. */
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

const SUM = /,"sum":"([0-9a-f]{16})"\}$/;
const SUM_LENGTH = ',"sum":"0123456789abcdef"}'.length;

/** Computes a line's checksum. @param follows true if the line is appended together with the previous line */
function addSum(sum: string, line: string, follows = false): string {
  const hash = createHash('sha256').update(sum);
  return (follows ? hash.update('+') : hash).update(line).digest('hex').slice(0, 16);
}

/** Returns the previous line's checksum if the checksums form a chain, otherwise an empty string. */
function before(sum: string, { seal }: Pick<Fold<unknown, unknown>, 'seal'>): string {
  return seal === 'chain' ? sum : '';
}

interface Line {
  text: string;
  /** The line's checksum; undefined if it has none. */
  sum: string | undefined;
  /** The offset after the newline that ends the line, in bytes. */
  end: number;
}

function* splitLines(bytes: Buffer): Generator<Line> {
  for (let start = 0, at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, start)) {
    const whole = bytes.toString('utf8', start, at);
    const sum = SUM.exec(whole)?.[1];
    start = at + 1;
    yield { text: sum === undefined ? whole : `${whole.slice(0, -SUM_LENGTH)}}`, sum, end: start };
  }
}

/** Reads the lines of a journal up to an incomplete end, if there is one. Reads a missing file as an empty journal. */
async function readLines<Entry, State>(path: string, fold: Fold<Entry, State>) {
  const { advice: hint } = fold;
  const bytes = (await readFile(path).catch(explainReadFault(path, hint))) ?? Buffer.alloc(0);
  const lines = [...splitLines(bytes)];
  let stands: Standing<State> = { state: fold.start, lines: 0, end: 0, sum: '' };
  for (const [index, line] of lines.entries()) {
    const where = `${path}: line ${index + 1}`;
    const { text, end } = line;
    const fault = findSumFault(line, before(stands.sum, fold), where, fold);
    const entry = fault ?? readEntry(text, where, fold);
    if (!(entry instanceof PricelakeError)) {
      stands = { ...addEntry(stands, entry, line.sum ?? '', path, fold), end };
      continue;
    }
    const state = fold.skip?.(stands.state, text);
    if (state !== undefined) stands = { ...stands, state, lines: index + 1, end };
    else if ((fault === undefined && line.sum !== undefined) || !isTorn(lines, index, stands.sum, fold)) throw entry;
    // A damaged first line is ignored only in a folder without other files, because lost lines may have listed them.
    else if (index === 0 && (await readdir(dirname(path))).length > 1) throw entry;
    else break;
  }
  return { ...stands, size: bytes.length };
}

function findSumFault(
  { text, sum }: Line,
  previous: string,
  where: string,
  { seal, advice: hint }: Pick<Fold<unknown, unknown>, 'seal' | 'advice'>,
): PricelakeError | undefined {
  if (sum === undefined) return new PricelakeError('lake_invalid', `${where} has no checksum`, { hint });
  if (sum === addSum(previous, text) || sum === addSum(previous, text, true)) return undefined;
  const what = seal === 'chain' ? `${where} or one before it has` : `${where} has`;
  return new PricelakeError('lake_invalid', `${what} changed since it was written: its checksum differs`, { hint });
}

/**
 * True if a power failure may have damaged this line, because this line and all later lines were never synced. Each
 * append waits until the previous append is synced. So a later valid line that starts an append proves that this line
 * was synced, and that something else damaged it.
 * @param sum the checksum of the previous line
 */
function isTorn<Entry, State>(lines: readonly Line[], index: number, sum: string, fold: Fold<Entry, State>): boolean {
  const rest = lines.slice(index);
  const { text } = lines[index] as Line;
  if (fold.seal === 'line') {
    const isWhole = (one: Line) =>
      !((findSumFault(one, '', '', fold) ?? readEntry(one.text, '', fold)) instanceof Error);
    return !isJson(text) && !rest.some(isWhole);
  }
  // The checksums that the next line may cover. This line's own checksum may be damaged, so it is also recomputed.
  const sums = [addSum(sum, text), addSum(sum, `${text.slice(0, -SUM_LENGTH)}}`), ...rest.map((line) => line.sum)];
  const builds = (line: Line) => sums.some((before) => before !== undefined && line.sum === addSum(before, line.text));
  return !rest.some((line) => line.sum !== undefined && builds(line));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Parses a line. Returns an error if it isn't a valid entry. */
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
    `${where} contains data that this version doesn't recognize`,
    { hint: `If a newer version wrote it, continue with that version. If it is damaged: ${advice}` },
    { cause: read.error },
  );
}

/** Serializes an entry to a line, without checksum and newline. */
function toLine(entry: unknown): string {
  return JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}
