import type { ApiClient } from '../api/client.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';
import { countItemBytes, cutItemTails, type ItemFile, ItemFiles, listItemFiles } from './item-files.js';
import { readItemPage, readLastChanged } from './page.js';

const PAGE_SIZE = 500;
/** Rounds of a poll until nothing moves any more; a world that moves on faster is caught up with by the next run. */
const ROUNDS = 5;
/** How far before the newest change of a round the next one reaches: changes of one moment come together. */
const ROUND_OVERLAP_MS = 60 * 1000;

export interface Poll {
  /** Items that changed after this time, ISO 8601. */
  changedSince: string;
  /**
   * True when no item may be missed that changes meanwhile: it moves to a page that was read before. Then what changed
   * during a round is polled again, until a round is one page: a single answer shows one moment.
   */
  untilSettled: boolean;
}

/**
 * Lands the items that changed since a time (section 4, /items with `changedSince`), pages of 500, those that changed
 * last first: in that order an item that changes meanwhile can push others to a later page, never past the reader.
 * What changes behind the fence comes with the next run. An interrupted run goes on at the page it had come to.
 */
export async function landPoll(
  client: ApiClient,
  landing: Landing,
  { changedSince, untilSettled }: Poll,
  onFile: (file: ItemFile) => void,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  await cutItemTails(landing, 'poll.page');
  if (journal.last('poll.done') === undefined) {
    let round = journal.all('poll.round').length;
    let since = journal.last('poll.round')?.since ?? changedSince;
    if (round === 0) await journal.append({ type: 'poll.round', since });
    for (round = Math.max(1, round); ; round++) {
      const { pages, newest } = await pollRound(client, landing, since, io);
      if (!untilSettled || pages <= 1) break;
      if (round === ROUNDS) {
        io.log('warn', 'poll.unsettled', { rounds: ROUNDS });
        break;
      }
      if (newest !== undefined) since = new Date(Date.parse(newest) - ROUND_OVERLAP_MS).toISOString();
      await journal.append({ type: 'poll.round', since });
    }
    await journal.append({ type: 'poll.done', calls: client.calls() });
  }
  for (const file of listItemFiles(landing, 'poll.page')) onFile(file);
}

interface Round {
  pages: number;
  /** When the item that had changed last at its beginning did so; undefined when this process did not see it. */
  newest: string | undefined;
}

async function pollRound(client: ApiClient, landing: Landing, changedSince: string, io: Io): Promise<Round> {
  const { journal } = landing;
  const files = new ItemFiles(landing, 'poll.page');
  let rows = BigInt(journal.all('poll.page').reduce((sum, page) => sum + page.rows, 0));
  let newest: string | undefined;
  try {
    for (let page = countRoundPages(landing); ; page++) {
      const query = { changedSince, status: 'all', sort: '-lastChanged', size: PAGE_SIZE, page };
      const { body } = await client.bytes('/items', query);
      const answer = readItemPage(body, `/items?page=${page}`);
      const slices = answer.items.map((item) => item.slice);
      const [first] = slices;
      if (page === 0 && first !== undefined) newest = readLastChanged(body, first);
      const entry = { rows: slices.length, readAt: io.now().toISOString(), calls: client.calls() };
      if (slices.length > 0) await files.land(body, slices, entry);
      rows += BigInt(slices.length);
      const done = slices.length === 0 || page + 1 >= answer.totalPages;
      const bytes = countItemBytes(journal, 'poll.page');
      io.progress({ step: 'poll', rows, totalRows: answer.totalElements, bytes, done });
      if (done) return { pages: page + 1, newest };
    }
  } finally {
    await files.close(); // journals its last pages, before the next round is
  }
}

/** Pages of the round that have landed. */
function countRoundPages({ journal: { entries } }: Landing): number {
  const begin = entries.findLastIndex(({ type }) => type === 'poll.round');
  return entries.slice(begin).filter(({ type }) => type === 'poll.page').length;
}
