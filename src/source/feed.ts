import path from 'node:path';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/wire-types.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { FeedProgress } from '../journal/feed.js';
import type { Landing } from '../journal/landings.js';
import type { EntryOf } from '../journal/run-entry.js';
import { requireDisk } from '../plan/disk.js';
import type { DatasetPart } from './dataset-client.js';
import { createFeedGuard, type FeedEnd, type FeedGuard } from './feed-guard.js';
import { leaveOutSeen, type ReadOverlap } from './feed-overlap.js';
import { FeedPages, PAGE_LIMIT, type PageMemory } from './feed-pages.js';
import { hasItem, readFeedPage } from './page.js';
import { RowFile } from './row-file.js';

const FEED_FILE = 'feed.ndjson';

export interface LandedFeed {
  file: string;
  changes: number;
  /** The number of changes that don't name their item. */
  unnamed: number;
  bytes: number;
  /** Every change up to this id has been received. The next run continues from this id. */
  cursor: bigint;
  /** True if the feed was read to its end; false if the plan stopped including the feed before that. */
  complete: boolean;
  at: string;
}

/** One dataset's feed or the whole feed, and the change after which it is read. */
export interface FeedPart extends DatasetPart {
  from: bigint;
  /** Changes before `from` that are read again. Only changes that appeared in the feed late are kept. */
  overlap?: ReadOverlap | undefined;
  /**
   * The newest change before complete rows were read; undefined if none are read. If a cursor is refused, a feed with a
   * watermark is read from its first page, and its final cursor is at least the watermark.
   */
  watermark?: bigint;
}

export interface FeedWorld {
  io: Io;
  memory: PageMemory;
}

interface FeedJudges {
  guard: FeedGuard;
  pages: FeedPages;
  io: Io;
}

const newestChange = z.looseObject({ changes: z.array(z.looseObject({ id: int64 })) });

/** Returns the id of the newest change (API §4, /changes/recent), if any. The feed contains all earlier changes. */
export async function readNewestChange(client: ApiClient): Promise<bigint | undefined> {
  // Parses only the id. An invalid value in another field then can't stop a run.
  const { changes } = await client.json('/changes/recent', { limit: 1 }, newestChange);
  return changes[0]?.id;
}

async function findEnd(client: ApiClient, io: Io): Promise<FeedEnd> {
  const at = io.now().toISOString();
  return { newest: (await readNewestChange(client)) ?? 0n, at };
}

/**
 * Reads the feed to its end (API §4, /changes), one dataset after the other, and writes one change per line. For
 * several datasets, the cursor is the smallest id up to which all feeds were read. An interrupted run continues after
 * its last page. If the plan no longer includes the feed, returns the changes received so far, or undefined if it has
 * received none.
 * @param client sends requests without a dataset
 */
export async function landFeed(
  client: ApiClient,
  landing: Landing,
  parts: readonly FeedPart[],
  hasFeed: boolean,
  world: FeedWorld,
): Promise<LandedFeed | undefined> {
  const { journal } = landing;
  const landed = journal.state.feed;
  if (landed.done === undefined && !hasFeed && landed.changes === 0) return undefined;
  const { cursor, complete, at } = landed.done ?? (await pullFeed(client, landing, parts, hasFeed, world));
  const { changes, unnamed, bytes } = journal.state.feed;
  return { file: path.join(landing.folder, FEED_FILE), changes, unnamed, bytes, cursor, complete, at };
}

/** Reads the rest of the feed, and journals the cursor that it has reached. */
async function pullFeed(
  client: ApiClient,
  landing: Landing,
  parts: readonly FeedPart[],
  hasFeed: boolean,
  { io, memory }: FeedWorld,
): Promise<Pick<LandedFeed, 'cursor' | 'complete' | 'at'>> {
  const bound = parts.length > 1 && hasFeed ? await landBound(client, landing, io) : undefined;
  const guard = createFeedGuard(() => findEnd(client, io), least(parts.map(({ from }) => from)));
  const pages = new FeedPages(memory, landing.journal.state.feed.longest, io.now());
  const cursors = hasFeed
    ? await pullParts(landing, parts, bound?.newest, { guard, pages, io })
    : parts.map((part) => findProgress(landing, part)?.nextCursor ?? part.from);
  if (hasFeed) {
    const { changes, bytes } = landing.journal.state.feed;
    const rows = BigInt(changes);
    io.progress({ step: 'land', part: 'feed', rows, totalRows: rows, isEstimate: false, bytes, done: true });
    await pages.remember();
  }
  const done = {
    cursor: least(cursors),
    complete: hasFeed,
    at: (bound ?? guard.reached())?.at ?? io.now().toISOString(),
  };
  await landing.journal.append({ type: 'feed.done', ...done, calls: client.calls() });
  io.log('debug', 'landed', { what: 'feed', cursor: done.cursor });
  return done;
}

/** Journals the newest change before reading the feeds of several datasets. Each attempt requests this change again. */
async function landBound(client: ApiClient, { journal }: Landing, io: Io) {
  if (journal.state.feed.bound?.isOfThisTry !== true) {
    await journal.append({ type: 'feed.bound', ...(await findEnd(client, io)), calls: client.calls() });
  }
  return journal.state.feed.bound;
}

function findProgress({ journal }: Landing, { dataset }: FeedPart): FeedProgress | undefined {
  return journal.state.feed.parts.get(dataset);
}

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

function greatest(ids: Iterable<bigint>): bigint {
  let found = 0n;
  for (const id of ids) if (id > found) found = id;
  return found;
}

export function least(ids: readonly bigint[]): bigint {
  let found = ids[0] ?? 0n;
  for (const id of ids) if (id < found) found = id;
  return found;
}

/** Reads the feed of each dataset to its end, and returns the cursors. Requests nothing if there are no new changes. */
async function pullParts(
  landing: Landing,
  parts: readonly FeedPart[],
  newest: bigint | undefined,
  judges: FeedJudges,
): Promise<bigint[]> {
  const { journal } = landing;
  if (newest !== undefined && parts.every(({ from }) => newest <= from)) return parts.map(({ from }) => from);
  const cursors: bigint[] = [];
  for (const part of parts) {
    const { dataset, client } = part;
    const ended = findProgress(landing, part)?.end;
    const cursor = ended ?? (await pullPart(landing, part, parts.length === 1, judges));
    if (newest !== undefined && ended === undefined) {
      await journal.append({ type: 'feed.part', dataset, cursor, calls: client.calls() });
    }
    // `newest` was requested before this feed was read, so the feed's changes up to `newest` have all been received.
    cursors.push(larger(newest ?? 0n, cursor));
  }
  return cursors;
}

/** True if the service has refused a cursor, probably because it is too old. The API document doesn't describe this. */
export function isCursorRefused(error: unknown): error is PricelakeError {
  return error instanceof PricelakeError && [400, 410].includes(error.facts.status ?? 0);
}

/** Requests the page after `after`. If the service refuses this cursor and `from` is greater, tries `from` instead. */
export async function fetchFeedPage({ client, from }: Pick<FeedPart, 'client' | 'from'>, after: bigint) {
  const read = async (cursor: bigint) => {
    const { body } = await client.bytes('/changes', { after: cursor, limit: PAGE_LIMIT });
    return { body, after: cursor };
  };
  return read(after).catch((error: unknown) => {
    if (after >= from || !isCursorRefused(error)) throw error;
    return read(from);
  });
}

/** Requests the next page. If the cursor is refused and the run reads complete rows, requests the first page. */
async function fetchPage(part: FeedPart, cursor: bigint, io: Io) {
  return fetchFeedPage(part, cursor).catch((error: unknown) => {
    if (part.watermark === undefined || cursor === 0n || !isCursorRefused(error)) throw error;
    io.log('warn', 'feed.cursor_refused', { cursor, reason: error.message });
    return fetchFeedPage({ ...part, from: 0n }, 0n);
  });
}

/** Estimates the number of changes up to the newest one, from the mean distance between the ids read so far. */
class FeedTotal {
  #first: { cursor: bigint; rows: bigint } | undefined;

  /** Returns undefined for the first page, and if `newest` is unknown. An estimate isn't worth another request. */
  estimate(cursor: bigint, rows: bigint, newest: bigint | undefined): bigint | undefined {
    const first = this.#first;
    this.#first ??= { cursor, rows };
    if (first === undefined || newest === undefined || cursor <= first.cursor) return undefined;
    const left = newest > cursor ? newest - cursor : 0n;
    return rows + (left * (rows - first.rows)) / (cursor - first.cursor);
  }
}

/** Reads the pages of one feed up to its end, or up to the guard's goal if the feed is long. Returns the cursor. */
async function pullPart(
  landing: Landing,
  part: FeedPart,
  isOnly: boolean,
  { guard, pages, io }: FeedJudges,
): Promise<bigint> {
  const { client, dataset, from, overlap } = part;
  const last = findProgress(landing, part);
  let { changes: rows, bytes } = landing.journal.state.feed;
  const file = await RowFile.open<EntryOf<'feed.page'>>(path.join(landing.folder, FEED_FILE), landing.journal, bytes);
  let cursor = last?.nextCursor ?? overlap?.after ?? from;
  // The returned cursor is at least this id, even if the feed is read again from its first page.
  let known = from;
  const total = new FeedTotal();
  // The feed contains the watermark and all changes in history, so pages are read at least until the cursor has reached
  // these ids.
  const newestKnown = overlap === undefined ? 0n : greatest(overlap.known);
  const isBehind = () => cursor < newestKnown || (isOnly && larger(cursor, known) < (part.watermark ?? 0n));
  const mayGoOn = pages.follow(isOnly && part.watermark !== undefined);
  // The feed may have grown since an earlier attempt reached its end.
  let hasMore = last?.isSinceBound === true ? last.hasMore || mayGoOn(last, isBehind()) : true;
  try {
    while (hasMore) {
      const { body, after } = await fetchPage(part, cursor, io);
      if (after < cursor) known = larger(known, part.watermark ?? 0n);
      cursor = after;
      const page = readFeedPage(body, cursor);
      const findNewest = async () => (await readNewestChange(client)) ?? 0n;
      const { cursor: nextCursor, goesOn } = await guard.admit(page, cursor, findNewest);
      const changes =
        overlap === undefined ? page.changes : await leaveOutSeen({ body, ...page }, cursor, from, overlap);
      if (changes.length > 0) {
        const unnamed = changes.filter((slice) => !hasItem(body, slice)).length;
        const counts = { rows: changes.length, ...(unnamed === 0 ? {} : { unnamed }) };
        const entry = { after: cursor, nextCursor, hasMore: page.hasMore, ...counts, calls: client.calls() };
        bytes = await file.land(body, changes, (mark) => ({ type: 'feed.page', dataset, ...entry, ...mark }));
        rows += changes.length;
        // Estimates the space from the number of changes received, because ids may have gaps.
        await requireDisk(landing.folder, { items: 0n, changes: BigInt(rows) });
      }
      cursor = nextCursor;
      hasMore = goesOn || mayGoOn({ ...page, rows: page.changes.length }, isBehind());
      // If there is only one feed, pullFeed reports its end. The end of one of several feeds is reported as progress.
      if (hasMore || !isOnly) {
        const all = BigInt(rows);
        const newest = isOnly ? (guard.goal()?.newest ?? part.watermark) : undefined;
        const totalRows = total.estimate(cursor, all, newest);
        io.progress({ step: 'land', part: 'feed', rows: all, totalRows, isEstimate: true, bytes, done: false });
      }
    }
    return larger(cursor, known);
  } finally {
    await file.close();
  }
}
