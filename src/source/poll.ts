import { basename } from 'node:path';
import { ITEMS_A_PAGE } from '../api/contract.js';
import { readLines } from '../formats/ndjson.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import type { PolledPart } from '../journal/reads.js';
import { countBytes } from '../journal/reads.js';
import type { DatasetPart } from './dataset-client.js';
import { type ItemFile, ItemFiles, listItemFiles } from './item-files.js';
import { type ItemPage, readItemId, readItemPage, readLastChanged } from './page.js';

/** The maximum number of rounds of a poll. Items that change during the last round are read by the next run. */
const ROUNDS = 5;
/**
 * The maximum number of times that all items are read. One reading may miss an item, because items that changed at the
 * same time have no fixed order and may move between pages.
 */
const READINGS = 2;
/** Each round starts this long before the previous round's newest change, because other items may share its time. */
const ROUND_OVERLAP_MS = 60 * 1000;

export interface Poll {
  /** The poll reads only items that changed after this time (ISO 8601); undefined for all items. */
  changedSince: string | undefined;
  /**
   * True if the poll must not miss an item that changes during the poll and thus moves to a page that was already read.
   * Changed items are polled again until they fit on one page, because a single page is consistent.
   */
  untilSettled: boolean;
}

/**
 * Reads the items that changed since a time, or all items (API §4, /items), one dataset after the other. Requests the
 * latest changes first, so an item that changes during the poll moves others only to later pages. An interrupted poll
 * resumes at its last page. Throws `snapshot_incomplete` if a poll of all items finds fewer items than the service
 * counts.
 */
export async function landPoll(
  parts: readonly DatasetPart[],
  landing: Landing,
  poll: Poll,
  onFile: (file: ItemFile) => void,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  for (const part of parts) {
    const { dataset, client } = part;
    if (journal.state.polls.get(dataset)?.isDone === true) continue;
    await new Rounds(part, landing, io).read(poll);
    await journal.append({ type: 'poll.done', dataset, calls: client.calls() });
  }
  for (const file of listItemFiles(landing, 'poll')) onFile(file);
}

/** Starts another poll in the same run, for the items that have changed since `since`. */
export function reopenPoll({ journal }: Landing, parts: readonly DatasetPart[], since: string): Promise<void> {
  return journal.append(...parts.map(({ dataset }) => ({ type: 'poll.round' as const, since, newest: null, dataset })));
}

class Rounds {
  readonly #part: DatasetPart;
  readonly #landing: Landing;
  readonly #io: Io;
  #rows = 0n;
  #bytes = 0;
  #roundPages = 0;
  /** The ids of the items read so far; undefined unless the poll reads all items. */
  #ids: Set<bigint> | undefined;

  constructor(part: DatasetPart, landing: Landing, io: Io) {
    this.#part = part;
    this.#landing = landing;
    this.#io = io;
  }

  get #polled(): PolledPart | undefined {
    return this.#landing.journal.state.polls.get(this.#part.dataset);
  }

  async read({ changedSince, untilSettled }: Poll): Promise<void> {
    const { poll } = this.#landing.journal.state.pages;
    this.#rows = poll.rows;
    this.#bytes = countBytes(poll);
    if (changedSince === undefined) this.#ids = await this.#readIds();
    const begun = this.#polled?.round;
    await this.#readRound(begun === undefined ? changedSince : (begun.since ?? undefined), begun !== undefined);
    if (untilSettled) await this.#settle();
    if (changedSince === undefined) await this.#complete();
  }

  /** Reads the pages of items that changed since a time, or of all items. */
  async #readRound(changedSince: string | undefined, isBegun = false): Promise<void> {
    const { journal } = this.#landing;
    const { client, dataset } = this.#part;
    const files = new ItemFiles(this.#landing, 'poll', this.#io);
    try {
      for (let page = isBegun ? (this.#polled?.round.pages ?? 0) : 0; ; page++) {
        const since = changedSince === undefined ? undefined : new Date(changedSince);
        const query = { changedSince: since, status: 'all', sort: '-lastChanged', size: ITEMS_A_PAGE, page };
        const { body } = await client.bytes('/items', query);
        const answer = readItemPage(body, `/items?page=${page}`);
        const { rows: slices } = answer;
        let isUnmoved = false;
        if (page === 0 && !isBegun) {
          const [first] = slices;
          const newest = (first === undefined ? undefined : readLastChanged(body, first)) ?? null;
          // Items are sorted by their latest change, so nothing has changed if the latest time is the same as in the
          // last round.
          isUnmoved = changedSince !== undefined && newest !== null && newest === this.#polled?.round.newest;
          await journal.append({ type: 'poll.round', since: changedSince ?? null, newest, dataset });
        }
        await files.land(this.#part, body, slices);
        this.#roundPages = page + 1;
        const done = slices.length === 0 || page + 1 >= answer.totalPages || isUnmoved;
        this.#count(answer, done);
        if (done) return;
      }
    } finally {
      await files.close(); // this journals the last pages before the next round starts
    }
  }

  /** Polls the items that changed during the last round, up to ROUNDS times, until they fit on one page. */
  async #settle(): Promise<void> {
    for (let round = 1; this.#roundPages > 1; round++) {
      if (round > ROUNDS) return this.#io.log('warn', 'poll.unsettled', { rounds: round });
      await this.#readNews();
    }
  }

  async #readNews(): Promise<void> {
    const newest = this.#polled?.round.newest ?? new Date(0).toISOString();
    await this.#readRound(new Date(Date.parse(newest) - ROUND_OVERLAP_MS).toISOString());
  }

  /** Polls changed items, and then all items, until the run has found as many items as the service counts. */
  async #complete(): Promise<void> {
    for (let look = 1; ; look++) {
      const total = await this.#countItems();
      const seen = BigInt(this.#ids?.size ?? 0);
      if (seen >= total) return;
      this.#io.log('warn', 'pages.short', { seen, total });
      if (look === READINGS * 2) {
        throw new PricelakeError(
          'snapshot_incomplete',
          `/items: the pages contain ${seen} different items, but the service counts ${total}`,
          { hint: 'Nothing was published. Run the same command again.' },
        );
      }
      if (look % 2 === 1) await this.#readNews();
      else await this.#readRound(undefined);
      await this.#settle();
    }
  }

  async #countItems(): Promise<bigint> {
    const { body } = await this.#part.client.bytes('/items', { status: 'all', size: 1 });
    return readItemPage(body, '/items?size=1').totalElements;
  }

  #count({ ids, rows, totalElements }: ItemPage, done: boolean): void {
    this.#rows += BigInt(rows.length);
    for (const id of ids) this.#ids?.add(id);
    for (const { start, end } of rows) this.#bytes += end - start + 1;
    this.#io.progress({
      step: 'land',
      part: 'poll',
      rows: this.#rows,
      totalRows: totalElements,
      bytes: this.#bytes,
      done,
    });
  }

  async #readIds(): Promise<Set<bigint>> {
    const ids = new Set<bigint>();
    const own = new Set(this.#polled?.files);
    for (const { path } of listItemFiles(this.#landing, 'poll')) {
      if (!own.has(basename(path))) continue;
      for await (const line of readLines(path)) ids.add(readItemId(line, { start: 0, end: line.length }));
    }
    return ids;
  }
}
