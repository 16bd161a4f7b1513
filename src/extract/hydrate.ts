import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import type { ApiClient } from '../api/client.js';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';
import { PageFile } from '../landing/page-file.js';
import { readElements, readFields } from './json-scan.js';
import { readItemId, readItemPage } from './page.js';

export const HYDRATE_FILE = 'hydrate.ndjson';
const PAGE_SIZE = 500;
/** Requests for single items side by side; the rate stays the client's. */
const CONCURRENCY = 4;

/** Items of which a change told too little: they need a whole read. */
export interface HydrationNeed {
  itemIds: Set<bigint>;
  /** Time of the earliest change of theirs, ISO 8601 UTC. */
  changedSince: string;
}

/**
 * Reads the needed items whole (section 4, /items and /items/{id}), in as few calls as possible, and lands the answers:
 * each line of the file is an object with the items in `content`. Items that are not visible any more are left out.
 * Removes from `need.itemIds` what it has read.
 */
export async function landHydration(client: ApiClient, landing: Landing, need: HydrationNeed, io: Io): Promise<void> {
  const { journal } = landing;
  const filePath = path.join(landing.folder, HYDRATE_FILE);
  const file = await PageFile.open(filePath, journal.last('hydrate.page')?.end ?? 0);
  for (const id of await readLandedIds(filePath)) need.itemIds.delete(id);
  const wanted = BigInt(need.itemIds.size);
  const land = async (page: Buffer, itemIds: bigint[]) => {
    const readAt = io.now().toISOString();
    const end = await file.append(page);
    await file.sync();
    await journal.append({ type: 'hydrate.page', rows: itemIds.length, end, readAt, calls: client.calls() });
    io.log('debug', 'landed', { what: 'hydration', rows: itemIds.length });
    for (const id of itemIds) need.itemIds.delete(id);
    io.progress({ step: 'hydrate', rows: wanted - BigInt(need.itemIds.size), totalRows: wanted, bytes: end });
  };
  try {
    await readChangedPages(client, need, land);
    await readSingleItems(client, need, land);
    await journal.append({ type: 'hydrate.done', calls: client.calls() });
    io.progress({ step: 'hydrate', rows: wanted, totalRows: wanted, bytes: 0, done: true });
  } finally {
    await file.close();
  }
}

/** Ids of the items that an earlier try landed. */
async function readLandedIds(filePath: string): Promise<bigint[]> {
  const bytes = await readFile(filePath);
  const ids: bigint[] = [];
  for (let start = 0; start < bytes.length; start = bytes.indexOf(0x0a, start) + 1) {
    const content = readFields(bytes, start).get('content');
    if (content === undefined) continue;
    for (const item of readElements(bytes, content.start)) ids.push(readItemId(bytes, item));
  }
  return ids;
}

type Land = (page: Buffer, itemIds: bigint[]) => Promise<void>;

/**
 * Pages of changed items, newest listings first: that order does not shift while the world goes on, and new items,
 * which most of the needed ones are, come first. Stops when single reads take fewer calls than the pages left.
 */
async function readChangedPages(client: ApiClient, need: HydrationNeed, land: Land): Promise<void> {
  for (let page = 0; need.itemIds.size > 1; page++) {
    const query = {
      changedSince: need.changedSince,
      status: 'all',
      sort: '-firstSeen',
      page,
      size: PAGE_SIZE,
    };
    const { body } = await client.bytes('/items', query);
    const answer = readItemPage(body, `/items?page=${page}`);
    if (answer.itemIds.length === 0) return;
    const before = need.itemIds.size;
    if (answer.itemIds.some((id) => need.itemIds.has(id))) await land(body, answer.itemIds);
    const pagesLeft = answer.totalPages - page - 1;
    if (pagesLeft <= 0 || !isAnotherPageWorthIt(need.itemIds.size, before - need.itemIds.size, pagesLeft)) return;
  }
}

/** A page is one call, as a single item is: another page pays if it can be expected to hold two needed items or more. */
export function isAnotherPageWorthIt(needed: number, foundOnLastPage: number, pagesLeft: number): boolean {
  if (needed === 0) return false;
  return foundOnLastPage >= 2 || needed >= 2 * pagesLeft;
}

async function readSingleItems(client: ApiClient, need: HydrationNeed, land: Land): Promise<void> {
  const limit = pLimit(CONCURRENCY);
  const inOrder = pLimit(1);
  await Promise.all(
    [...need.itemIds].map((id) =>
      limit(async () => {
        const body = await readItem(client, id);
        if (body !== undefined) {
          const line = Buffer.concat([Buffer.from('{"content":['), body, Buffer.from(']}')]);
          await inOrder(() => land(line, [id]));
        }
      }),
    ),
  );
}

/** The item's bytes, or undefined when it is not among the items the caller can see (404). */
async function readItem(client: ApiClient, id: bigint): Promise<Buffer | undefined> {
  try {
    const { body } = await client.bytes(`/items/${id}`, {});
    readFields(body);
    return body;
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'not_found') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new PricelakeError(
      'contract',
      `/items/${id}: the answer is not a JSON object: ${error.message}`,
      { hint: 'check source.baseUrl, and that nothing between rewrites answers' },
      { cause: error },
    );
  }
}
