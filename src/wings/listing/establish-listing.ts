import type { PricelakeError } from '../../io/errors.js';
import { findListing, findListingPlan, type ListingPlan, type ListingProgress } from '../../journal/listing.js';
import { countCallsLeft } from '../../plan/allowance.js';
import { reachBack } from '../../plan/plan-copy.js';
import type { ListedRun } from '../../run/open/wings.js';
import { readPollStart } from '../../run/plan/run-planner.js';
import { allowSkipping } from '../../source/allow-skipping.js';
import { type DatasetPart, listSelectedParts } from '../../source/dataset-client.js';
import { listItemFiles } from '../../source/item-files.js';
import { landPoll, reopenPoll } from '../../source/poll.js';
import type { RelationGraph } from '../../sql/graph.js';
import { chooseReadings, type Reading, type SiteCount } from './choose-readings.js';
import { landCounts, landReading, landSingles } from './land-readings.js';
import {
  countListedOf,
  countRead,
  countUnread,
  findEvidence,
  findMissing,
  type ListingRows,
  matchListing,
  readListingItems,
} from './listing-states.js';
import { explainOpen, type OpenListing } from './listing-words.js';

/**
 * After a poll, determines which items are listed, because `changedSince` may not return items that were removed or
 * relisted. One call compares the service's counts (API §4, /facets) with the lake as this run would publish it. If the
 * counts differ, finds the items by reading pages and single items with a part of the remaining calls. Records in the
 * journal which items the service no longer returns, and for how many items the state stays unknown (`listing.done`).
 */
export async function establishListing(run: ListedRun): Promise<void> {
  const { landed, landing, client, io, typing } = run;
  if (landed.mode !== 'poll') return;
  const { journal } = landing;
  if (journal.state.listing.done !== undefined || landed.account === undefined) {
    for (const file of listItemFiles(landing, 'listing')) typing.addItems({ ...file, origin: 'page' });
    return;
  }
  const open: OpenListing[] = [];
  for (const part of listSelectedParts(client, landed.selection)) {
    open.push(await new ListingPart(run, part).establish());
  }
  const { unknown, reason } = explainOpen(open);
  await journal.append({ type: 'listing.done', unknown, reason, calls: client.calls() });
  io.log(unknown === 0n ? 'debug' : 'warn', 'listing.proved', { unknown, reason });
}

/** The maximum number of times that the service's counts are requested. If they differ even then, the step ends. */
const COUNTS = 2;

interface ListingState {
  sites: SiteCount[];
  isSuspect: boolean;
  returnsRemovals: boolean;
  /** The websites of which all pages have been read. A null stands for all websites. */
  read: Set<bigint | null>;
}

/** Determines which items are listed, either in one dataset or in everything that the key can read. */
class ListingPart {
  readonly #run: ListedRun;
  readonly #part: DatasetPart;

  constructor(run: ListedRun, part: DatasetPart) {
    this.#run = run;
    this.#part = part;
  }

  get #graph(): RelationGraph {
    return this.#run.graph;
  }

  get #progress(): ListingProgress {
    return findListing(this.#run.landing.journal.state.listing, this.#part.dataset);
  }

  async establish(): Promise<OpenListing> {
    let failure: PricelakeError | undefined;
    let state = await this.#askAndRead().catch((error: unknown) => {
      failure = allowSkipping(error);
      return undefined;
    });
    if (state === undefined) {
      const rows = await this.#type();
      if (this.#progress.counts === undefined) {
        return { sites: [], unread: await countUnread(this.#graph, rows.items), wanted: undefined, failure };
      }
      state = await this.#look(rows);
    }
    const sites = findOpen(state).map((site) => ({ ...site, isRead: hasRead(state, site) }));
    return { sites, unread: 0n, wanted: this.#progress.plans.at(-1), failure };
  }

  async #askAndRead(): Promise<ListingState> {
    if (this.#progress.counts === undefined) await this.#ask(await this.#type());
    return this.#read();
  }

  /** Reads items until the listing states of all websites are certain, or until no further reads are allowed. */
  async #read(): Promise<ListingState> {
    for (;;) {
      const rows = await this.#type();
      const state = await this.#look(rows);
      if (findOpen(state).length === 0) return state;
      if (this.#progress.step === 'acted') {
        const plan = this.#progress.plans.at(-1);
        const isStuck = plan === undefined || (!plan.news && plan.readings.length === 0);
        if (isStuck || this.#progress.timesCounted >= COUNTS || !findOpen(state).some(isDifferent)) return state;
        await this.#ask(rows);
      } else await this.#act(state, rows);
    }
  }

  #readPollStart(): Promise<number> {
    return readPollStart({ graph: this.#graph, ...this.#run.found });
  }

  async #ask({ items }: ListingRows): Promise<void> {
    const { landing, look } = this.#run;
    const before = this.#progress.counts;
    // The items of a newly added dataset were read without `changedSince`, so they don't show what it returns.
    const since = this.#run.landed.added.length > 0 ? undefined : reachBack(await this.#readPollStart());
    const returnsRemovals = before?.returnsRemovals ?? (await findEvidence(this.#graph, items, since));
    await landCounts(this.#part, landing, returnsRemovals);
    look('/facets', JSON.parse(this.#progress.counts?.answer ?? '{}'));
  }

  async #look(rows: ListingRows): Promise<ListingState> {
    const { counts } = this.#progress;
    const { readable } = this.#run.names;
    const { sites, isSuspect } = await matchListing(this.#graph, rows.items, counts?.answer ?? '{}', readable);
    return { sites, isSuspect, returnsRemovals: counts?.returnsRemovals ?? false, read: await this.#findRead(rows) };
  }

  /** Returns the items as this run would publish them, including all rows downloaded so far. */
  async #type(): Promise<ListingRows> {
    const { landing, graph, typing, items, pending, reader } = this.#run;
    for (const page of ['poll', 'listing'] as const) {
      for (const file of listItemFiles(landing, page)) typing.addItems({ ...file, origin: 'page' });
    }
    const { rows, typed } = await reader.exported(await typing.finish());
    const { dataset } = this.#part;
    const own = dataset === undefined ? undefined : (this.#run.names.byId.get(dataset) ?? []);
    const { gone } = landing.journal.state.listing;
    return {
      items: await readListingItems(graph, { items, pending_changes: pending, exported_items: rows }, own, gone),
      typed,
    };
  }

  /** Returns the websites of which all pages have been read, and whose missing items have been read one by one. */
  async #findRead(rows: ListingRows): Promise<Set<bigint | null>> {
    const read = new Set<bigint | null>();
    for (const plan of this.#progress.plans) {
      for (const [place, reading] of plan.readings.entries()) {
        const { total = null, files = [] } = plan.ended[place] ?? {};
        if (total === null || (await countRead(this.#graph, rows.typed, files)) < total) continue;
        const missing = await findMissing(this.#graph, rows, reading, plan.files);
        if (missing.length === 0) read.add(reading.site);
      }
    }
    return read;
  }

  async #act(state: ListingState, before: ListingRows): Promise<void> {
    const { client, dataset } = this.#part;
    const { landing, io } = this.#run;
    const { journal } = landing;
    if (findListingPlan(this.#progress) === undefined) await journal.append(this.#plan(state));
    const plan = findListingPlan(this.#progress);
    if (plan === undefined) return;
    if (plan.news) await this.#pollNews(plan);
    const pages = plan.limit === null ? Number.POSITIVE_INFINITY : Number(plan.limit);
    const countListed = (ids: readonly bigint[]) => countListedOf(this.#graph, before.items, ids);
    for (const reading of plan.readings.slice(plan.ended.length)) {
      await landReading(this.#part, landing, reading, { countListed, pages }, io);
    }
    const rows = await this.#type();
    let left = plan.limit;
    for (const reading of plan.readings.filter(({ removals }) => removals === null)) {
      const missing = await findMissing(this.#graph, rows, reading, findListingPlan(this.#progress)?.files ?? []);
      const some = left === null ? missing : missing.slice(0, Number(left));
      await landSingles(this.#part, landing, some, io);
      if (left !== null) left -= BigInt(some.length);
    }
    await journal.append({ type: 'listing.acted', dataset, calls: client.calls() });
  }

  #plan(state: ListingState) {
    const { client, dataset } = this.#part;
    const isSecond = this.#progress.timesCounted > 1;
    const allowance = this.#run.landed.account?.gate.left();
    const callsLeft = allowance === undefined ? null : countCallsLeft(allowance, BigInt(client.calls()));
    const chosen = chooseReadings({ ...state, isSecond, callsLeft });
    // If the poll returns removals, a recent change is the most likely cause, which another poll will find.
    const news = state.returnsRemovals && !isSecond;
    const readings: Reading[] = news ? [] : chosen.readings;
    const { limit, wanted } = chosen;
    this.#run.io.log('info', 'listing.chosen', { news, readings: readings.length, limit, wanted });
    return { type: 'listing.plan' as const, dataset, news, readings, limit, wanted, calls: client.calls() };
  }

  /** Polls for items that have changed since the newest change that the last poll returned. */
  async #pollNews({ isPolled }: ListingPlan): Promise<void> {
    const { landing, io } = this.#run;
    const findRound = () => landing.journal.state.polls.get(this.#part.dataset)?.round;
    if (!isPolled) {
      const newest = findRound()?.newest;
      await reopenPoll(
        landing,
        [this.#part],
        reachBack(newest == null ? await this.#readPollStart() : Date.parse(newest)),
      );
    }
    const changedSince = findRound()?.since ?? undefined;
    await landPoll([this.#part], landing, { changedSince, untilSettled: false }, () => {}, io);
  }
}

function isDifferent({ service, lake }: SiteCount): boolean {
  return service !== lake;
}

function hasRead({ read }: ListingState, { site }: SiteCount): boolean {
  return read.has(null) || read.has(site);
}

/** Returns the websites with items whose listing state isn't certain. */
function findOpen(state: ListingState): SiteCount[] {
  return state.sites.filter((site) => isDifferent(site) || !(state.returnsRemovals || hasRead(state, site)));
}
