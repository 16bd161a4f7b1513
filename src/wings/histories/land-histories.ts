import { createHash } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import type { ApiClient } from '../../api/client.js';
import { countOf } from '../../formats/count.js';
import { findField, readElements, type Slice } from '../../formats/json-scan.js';
import { makeFolder, syncFolder } from '../../io/durable.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { runSideBySide } from '../../io/side-by-side.js';
import { Journal, readJournal } from '../../journal/journal.js';
import type { Landing } from '../../journal/landings.js';
import { type LakeMemory, listBrought, type Memory } from '../../journal/memory.js';
import { readEntries } from '../../journal/read-entries.js';
import { type AccountPlan, fetchAccountPlan, pickUsage } from '../../run/open/account.js';
import { RowFile, type RowMark } from '../../source/row-file.js';
import { BACKFILL_FOLD, type BackfillEntry, countCalls, listItems } from './backfill-journal.js';

/** Returns `_pricelake/backfill/`, the folder for raw histories that no run has published yet. */
function backfillFolder(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'backfill');
}

const SOURCE = 'histories';
const FILE = 'history.ndjson';
const JOURNAL = 'journal.ndjson';
/** The maximum number of requests at the same time. In addition, the client limits the rate of requests. */
const CONCURRENCY = 4;

/**
 * Downloads the histories of items (API §4, /items/{id}/history) to one file. Each line contains an entry in the form
 * of a change in the feed. If a backfill was interrupted, downloads only the histories that the file lacks. The history
 * of an item that the key can't see is empty.
 * @param plan the account's plan, as it was read before the first call
 * @param left the number of items for which there are no calls; it is recorded in the journal
 * @returns the number of items whose histories were requested
 */
export async function landHistories(
  client: ApiClient,
  lakeRoot: string,
  itemIds: readonly bigint[],
  plan: AccountPlan,
  io: Io,
  left = 0,
): Promise<number> {
  const folder = backfillFolder(lakeRoot);
  await makeFolder(folder);
  const journal = await Journal.open(path.join(folder, JOURNAL), BACKFILL_FOLD, io);
  try {
    if (journal.state.isBegun) await journal.append({ type: 'try', at: io.now().toISOString() });
    await journal.append({ type: 'usage.before', counted: pickUsage(plan), calls: client.calls() });
    const landed = new Set(listItems(journal.state));
    const missing = itemIds.filter((id) => !landed.has(id));
    const file = await RowFile.open<BackfillEntry>(path.join(folder, FILE), journal, journal.state.bytes);
    try {
      await readHistories(client, missing, file, io);
    } finally {
      await file.close();
    }
    const counted = missing.length === 0 ? null : await fetchAccountPlan(client).then(pickUsage, () => null);
    await journal.append(
      { type: 'usage.after', counted, calls: client.calls() },
      { type: 'backfill.done', calls: client.calls(), left },
    );
    return missing.length;
  } finally {
    await journal.close();
  }
}

async function readHistories(
  client: ApiClient,
  itemIds: readonly bigint[],
  file: RowFile<BackfillEntry>,
  io: Io,
): Promise<void> {
  let done = 0n;
  let bytes = 0;
  const inOrder = pLimit(1);
  await runSideBySide(CONCURRENCY, itemIds, async (itemId) => {
    const { body, rows } = await readHistory(client, itemId);
    const entry = (mark: RowMark): BackfillEntry => {
      return { type: 'backfill.item', itemId, rows: rows.length, calls: client.calls(), ...mark };
    };
    bytes = await inOrder(() => file.land(body, rows, entry));
    done += 1n;
    io.progress({ step: 'land', part: 'histories', rows: done, totalRows: BigInt(itemIds.length), bytes });
  });
  io.progress({ step: 'land', part: 'histories', rows: done, totalRows: BigInt(itemIds.length), bytes, done: true });
}

/** Downloads the entries of an item's history, and adds the item to each. There are none for a 404 response. */
async function readHistory(client: ApiClient, itemId: bigint): Promise<{ body: Buffer; rows: Slice[] }> {
  try {
    const { body } = await client.bytes(`/items/${itemId}/history`, {});
    return nameItem(body, readElements(body, 0), itemId);
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'not_found') return { body: Buffer.alloc(0), rows: [] };
    if (!(error instanceof SyntaxError)) throw error;
    const hint = 'Check source.baseUrl, and make sure that no proxy changes responses.';
    const what = `/items/${itemId}/history: the response is not a list of entries: ${error.message}`;
    throw new PricelakeError('contract', what, { hint }, { cause: error });
  }
}

/**
 * Adds the item to each entry of its history, because an entry doesn't name its item (API §2). For example,
 * `{"id":1,…}` becomes `{"item":{"id":7},"id":1,…}`. Replaces the member `item` if an entry has one.
 */
function nameItem(body: Buffer, entries: readonly Slice[], itemId: bigint): { body: Buffer; rows: Slice[] } {
  const item = `{"id":${itemId}}`;
  const rows: Slice[] = [];
  const parts: Buffer[] = [];
  let end = 0;
  for (const entry of entries) {
    const own = body[entry.start] === OPEN_BRACE ? findField(body, entry.start, (name) => name === 'item') : undefined;
    const place = own ?? { start: entry.start + 1, end: entry.start + 1 };
    const name = Buffer.from(own === undefined ? `"item":${item},` : item);
    const named = [body.subarray(entry.start, place.start), name, body.subarray(place.end, entry.end)];
    const start = end;
    for (const piece of named) end += piece.length;
    parts.push(...named);
    rows.push({ start, end });
  }
  return { body: Buffer.concat(parts), rows };
}

const OPEN_BRACE = 0x7b;

/**
 * Adds the file of downloaded histories to the run's folder as a hard link. If the backfill has never been complete,
 * leaves its histories to a later run.
 * @throws PricelakeError `lake_invalid` if the file has changed since it was downloaded
 */
export async function takeBackfill({ folder, journal }: Landing, lakeRoot: string): Promise<void> {
  if (journal.state.sources.has(SOURCE)) return;
  const waiting = await readBackfill(lakeRoot);
  if (!waiting.wasDone) return;
  const file = path.join(folder, FILE);
  // An earlier attempt of the run may have been killed after it created this link. The linked file may be outdated.
  await rm(file, { force: true });
  await link(path.join(backfillFolder(lakeRoot), FILE), file);
  await syncFolder(folder);
  const { rows, bytes: end, left, calls } = waiting;
  const landed = { file: FILE, key: FILE, rows, end, sha256: await hashHistories(file, lakeRoot) };
  const spent = { made: calls.made, counted: countCalls(waiting) };
  const remark = `the histories of ${countOf(left, 'item')} are still to be read`;
  await journal.append(
    { type: 'source.rows', source: SOURCE, origin: 'history', ...landed },
    { type: 'source.done', source: SOURCE, spent, ...(left === 0 ? {} : { remark }) },
  );
}

/** Verifies the checksum of each history. Returns a hash of all histories, which the run's journal records. */
async function hashHistories(file: string, lakeRoot: string): Promise<string> {
  const entries = await readEntries(path.join(backfillFolder(lakeRoot), JOURNAL), BACKFILL_FOLD);
  const total = createHash('sha256');
  const handle = await open(file, 'r');
  try {
    let start = 0;
    for (const entry of entries) {
      if (entry.type !== 'backfill.item') continue;
      const { itemId, end, sha256 } = entry;
      const buffer = Buffer.alloc(end - start);
      await handle.read(buffer, 0, buffer.length, start);
      if (createHash('sha256').update(buffer).digest('hex') !== sha256) {
        const what = `bytes ${start} to ${end}, the history of item ${itemId}, have changed since they landed`;
        const where = path.join(backfillFolder(lakeRoot), FILE);
        throw new PricelakeError('lake_invalid', `${where}: ${what}: their checksum differs`, {
          hint: BACKFILL_FOLD.advice,
        });
      }
      total.update(buffer);
      start = end;
    }
  } finally {
    await handle.close();
  }
  return total.digest('hex');
}

const readBackfill = (lakeRoot: string) => readJournal(path.join(backfillFolder(lakeRoot), JOURNAL), BACKFILL_FOLD);

/** Lists the items whose histories have been downloaded but not published yet. */
export async function listWaitingHistories(lakeRoot: string): Promise<bigint[]> {
  return listItems(await readBackfill(lakeRoot));
}

/** Returns true if a backfill has started, and no run has published its histories yet. */
export async function hasBackfill(lakeRoot: string): Promise<boolean> {
  return (await readBackfill(lakeRoot)).isBegun;
}

/** Returns true if a backfill was interrupted and hasn't been completed. */
export async function hasOpenBackfill(lakeRoot: string): Promise<boolean> {
  const { isBegun, isDone } = await readBackfill(lakeRoot);
  return isBegun && !isDone;
}

/** Deletes the histories that a run has published, and records that they have been added to the lake. */
export async function removeBackfill({ journal }: Landing, lakeRoot: string, memory: Memory): Promise<void> {
  if (!journal.state.sources.has(SOURCE)) return;
  const items = new Set(await listWaitingHistories(lakeRoot));
  for (const id of listReadHistories(memory.state)) items.delete(id);
  if (items.size > 0) await memory.append({ type: 'brought', source: SOURCE, ids: [...items].join(',') });
  await rm(backfillFolder(lakeRoot), { recursive: true, force: true });
}

/** Lists the items whose histories have been published. */
export const listReadHistories = (memory: LakeMemory) => listBrought(memory, SOURCE);
