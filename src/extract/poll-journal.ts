import type { JournalEntries } from '../landing/journal.js';
import type { JournalEntry } from '../landing/journal-entry.js';
import { sumPages } from '../landing/run-progress.js';
import type { Dataset } from '../plan/plan-shards.js';
import type { PolledPart } from '../plan/run-facts.js';

const TYPES = ['poll.round', 'poll.page', 'poll.done'] as const;
type PollEntry = Extract<JournalEntry, { type: (typeof TYPES)[number] }>;
type Round = Extract<PollEntry, { type: 'poll.round' }>;

/** What the journal says of polling a part: rounds, the pages that landed behind each, and that it is done. */
export class PollJournal {
  readonly #journal: Pick<JournalEntries, 'entries'>;
  readonly #dataset: Dataset;

  constructor(journal: Pick<JournalEntries, 'entries'>, dataset: Dataset) {
    this.#journal = journal;
    this.#dataset = dataset;
  }

  get #entries(): PollEntry[] {
    const isOurs = (entry: JournalEntry): entry is PollEntry => (TYPES as readonly string[]).includes(entry.type);
    return this.#journal.entries.filter(isOurs).filter(({ dataset }) => dataset === this.#dataset);
  }

  /** False again when a round was begun since. */
  isDone(): boolean {
    return this.#entries.at(-1)?.type === 'poll.done';
  }

  /** The round that was begun last. */
  findRound(): Round | undefined {
    return this.#entries.findLast((entry) => entry.type === 'poll.round');
  }

  /** Files that hold pages of the part. */
  listFiles(): Set<string> {
    return new Set(this.#entries.flatMap((entry) => (entry.type === 'poll.page' ? entry.file : [])));
  }

  /** Pages that have landed of the round that was begun last. */
  countRoundPages(): number {
    return this.#listPages(this.findRound()).length;
  }

  summarize(): PolledPart {
    const round = this.findRound();
    const whole = this.#entries.findLast((entry) => entry.type === 'poll.round' && entry.since === null);
    const pages = this.#listPages(round);
    return {
      wholePages: this.#listPages(whole).length,
      round: { since: round?.since ?? null, pages: pages.length, rows: sumPages(pages, 'poll.page').rows },
      isDone: this.isDone(),
    };
  }

  /** Pages that landed behind the beginning of a round, and before that of the next. */
  #listPages(round: PollEntry | undefined): PollEntry[] {
    if (round === undefined) return [];
    const entries = this.#entries;
    const behind = entries.slice(entries.indexOf(round) + 1);
    const next = behind.findIndex(({ type }) => type === 'poll.round');
    return behind.slice(0, next < 0 ? undefined : next).filter(({ type }) => type === 'poll.page');
  }
}

/** What the journal says was polled, of each part. */
export function readPolledParts(journal: Pick<JournalEntries, 'entries'>): Map<Dataset, PolledPart> {
  const parts = new Set<Dataset>();
  for (const entry of journal.entries) if (entry.type === 'poll.round') parts.add(entry.dataset);
  return new Map([...parts].map((dataset) => [dataset, new PollJournal(journal, dataset).summarize()]));
}
