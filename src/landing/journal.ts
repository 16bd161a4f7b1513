import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PricelakeError } from '../errors/errors.js';
import { explainReadFault } from '../errors/path-fault.js';
import { syncFolder } from '../io/durable.js';
import type { JournalEntry } from './journal-entry.js';
import { readEntry, START_AGAIN, toLine } from './journal-line.js';

type Of<T extends JournalEntry['type']> = Extract<JournalEntry, { type: T }>;

/** What a run's journal says. */
export class JournalEntries {
  readonly entries: JournalEntry[];

  protected constructor(entries: JournalEntry[]) {
    this.entries = entries;
  }

  /** Of a run that has not begun. */
  static none(): JournalEntries {
    return new JournalEntries([]);
  }

  /**
   * Reads the lines that stand and changes nothing: another process may be writing.
   * @param advice says what to do about a damaged one; default: as of a run
   * @throws PricelakeError `lake_invalid`
   */
  static async read(path: string, advice?: string): Promise<JournalEntries> {
    return new JournalEntries((await readJournal(path, advice)).entries);
  }

  all<T extends JournalEntry['type']>(type: T): Of<T>[] {
    return this.entries.filter((entry): entry is Of<T> => entry.type === type);
  }

  last<T extends JournalEntry['type']>(type: T): Of<T> | undefined {
    return this.all(type).at(-1);
  }
}

/** A run's journal: append-only lines, synced. */
export class Journal extends JournalEntries {
  readonly #file: FileHandle;
  readonly #path: string;
  /** True when a power cut leaves the file its name. */
  #isNamed = false;
  /** What to do where it is damaged, or what it names. */
  readonly advice: string;
  /** Bytes of the lines that stand. */
  #end: number;
  /** Checksum of the lines that stand. */
  #sum: string;
  /** One append after the other: a failed one cuts off its own lines alone. */
  #appending: Promise<void> = Promise.resolve();

  private constructor({ entries, sum, end }: ReadJournal, file: FileHandle, path: string, advice: string) {
    super(entries);
    this.advice = advice;
    this.#sum = sum;
    this.#file = file;
    this.#path = path;
    this.#end = end;
  }

  /** Opens or creates. A last line that a crash cut short is taken away. Parameter and errors as of `read`. */
  static async open(path: string, advice = START_AGAIN): Promise<Journal> {
    const read = await readJournal(path, advice);
    if (read.end < read.size) await truncate(path, read.end);
    return new Journal(read, await open(path, 'a'), path, advice);
  }

  /** Durable when it resolves. */
  append(...entries: JournalEntry[]): Promise<void> {
    const appended = this.#appending.then(() => this.#write(entries));
    this.#appending = appended.catch(() => {}); // reported to the caller that appends
    return appended;
  }

  async #write(entries: JournalEntry[]): Promise<void> {
    if (entries.length === 0) return;
    let sum = this.#sum;
    const texts = entries.map((entry) => {
      const line = toLine(entry);
      sum = addLine(sum, line);
      return `${line.slice(0, -1)},"sum":"${sum}"}\n`;
    });
    const lines = Buffer.from(texts.join(''));
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
      if (!this.#isNamed) await syncFolder(dirname(this.#path));
      this.#isNamed = true;
    } catch (error) {
      // A full disk can take half of a line: the next one must not stand behind it.
      await this.#file.truncate(this.#end).catch(() => {});
      throw error;
    }
    this.#end += lines.length;
    this.#sum = sum;
    this.entries.push(...entries);
  }

  async close(): Promise<void> {
    await this.#appending;
    await this.#file.close();
  }
}

/** A line's own checksum, at its end: of the line without it and of all lines before. Older journals have none. */
const SUM = /,"sum":"([0-9a-f]{16})"\}$/;

function addLine(sum: string, line: string): string {
  return createHash('sha256').update(sum).update(line).digest('hex').slice(0, 16);
}

interface ReadJournal {
  entries: JournalEntry[];
  /** Where whole lines end. */
  end: number;
  size: number;
  sum: string;
}

/** The whole lines of a journal; an absent one is empty. Throws `lake_invalid` on one that is not as it was written. */
async function readJournal(path: string, advice = START_AGAIN): Promise<ReadJournal> {
  const bytes = (await readFile(path).catch(explainReadFault(path, advice))) ?? Buffer.alloc(0);
  const end = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  let sum = '';
  const entries = lines.map((text, index) => {
    const where = `${path}: line ${index + 1}`;
    const [tail, claimed] = SUM.exec(text) ?? [];
    const line = tail === undefined ? text : `${text.slice(0, -tail.length)}}`;
    const entry = readEntry(line, where, advice);
    sum = addLine(sum, line);
    if (claimed !== undefined && claimed !== sum) {
      const what = `${where} or one before it is not as it was written: its checksum differs`;
      throw new PricelakeError('lake_invalid', what, { hint: advice });
    }
    return entry;
  });
  return { entries, end, size: bytes.length, sum };
}
