import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { type JournalEntry, readEntry, toLine } from './journal-entry.js';

type Of<T extends JournalEntry['type']> = Extract<JournalEntry, { type: T }>;

/** What a run's journal says. */
export class JournalEntries {
  readonly entries: JournalEntry[];

  protected constructor(entries: JournalEntry[]) {
    this.entries = entries;
  }

  /** Reads the lines that stand and changes nothing: another process may be writing. Throws `lake_invalid`. */
  static async read(path: string): Promise<JournalEntries> {
    return new JournalEntries((await readJournal(path)).entries);
  }

  all<T extends JournalEntry['type']>(type: T): Of<T>[] {
    return this.entries.filter((entry): entry is Of<T> => entry.type === type);
  }

  last<T extends JournalEntry['type']>(type: T): Of<T> | undefined {
    return this.all(type).at(-1);
  }

  /** Calls of all processes that worked on the run, and of backfills that it took over. */
  countCalls(): number {
    const tries: number[] = [0];
    let taken = 0;
    for (const entry of this.entries) {
      if (entry.type === 'try') tries.push(0);
      else if (entry.type === 'backfill') taken += entry.made ?? 0;
      else if ('calls' in entry && entry.calls !== undefined) tries[tries.length - 1] = entry.calls;
    }
    return tries.reduce((sum, calls) => sum + calls, taken);
  }
}

/** A run's journal: append-only lines, synced. */
export class Journal extends JournalEntries {
  readonly #file: FileHandle;
  /** Bytes of the lines that stand. */
  #end: number;
  /** One append after the other: a failed one cuts off its own lines alone. */
  #appending: Promise<void> = Promise.resolve();

  private constructor(entries: JournalEntry[], file: FileHandle, end: number) {
    super(entries);
    this.#file = file;
    this.#end = end;
  }

  /** Opens or creates. A last line that a crash cut short is taken away. */
  static async open(path: string): Promise<Journal> {
    const { entries, end, size } = await readJournal(path);
    if (end < size) await truncate(path, end);
    const file = await open(path, 'a');
    return new Journal(entries, file, (await file.stat()).size);
  }

  /** Durable when it resolves. */
  append(...entries: JournalEntry[]): Promise<void> {
    const appended = this.#appending.then(() => this.#write(entries));
    this.#appending = appended.catch(() => {}); // reported to whoever appends
    return appended;
  }

  async #write(entries: JournalEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const lines = Buffer.from(entries.map((entry) => `${toLine(entry)}\n`).join(''));
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
    } catch (error) {
      // A full disk can take half of a line: the next one must not stand behind it.
      await this.#file.truncate(this.#end).catch(() => {});
      throw error;
    }
    this.#end += lines.length;
    this.entries.push(...entries);
  }

  async close(): Promise<void> {
    await this.#appending;
    await this.#file.close();
  }
}

/** The whole lines of a journal and where they end; an absent one is empty. Throws `lake_invalid` on a damaged line. */
async function readJournal(path: string): Promise<{ entries: JournalEntry[]; end: number; size: number }> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  const end = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  const entries = lines.map((line, index) => readEntry(line, `${path}: line ${index + 1}`));
  return { entries, end, size: bytes.length };
}
