import pLimit from 'p-limit';
import type { ApiClient } from '../api/client.js';
import { ITEMS_A_PAGE } from '../api/contract.js';
import type { IdSet } from '../io/id-set.js';
import type { Io } from '../io/io.js';
import { runSideBySide } from '../io/side-by-side.js';
import type { Landing } from '../journal/landings.js';
import { countBytes } from '../journal/reads.js';
import { isPublishable, type RunProgress } from '../journal/run-state.js';
import { findBrokenChanged } from '../plan/broken-exports.js';
import type { ExportGate } from '../plan/export-gate.js';
import { type ChangedItems, type HydrationChoice, planHydration } from '../plan/plan-hydration.js';
import { skipSample } from './allow-skipping.js';
import type { DatasetPart } from './dataset-client.js';
import { type AskedExport, landHydrationExport, takeOff } from './hydrate-export.js';
import { type ItemFile, ItemFiles, landSingleItems, listItemFiles, readItem } from './item-files.js';
import { type ItemPage, readItemPage } from './page.js';

/** The maximum number of parallel requests. The client separately limits their rate. */
const CONCURRENCY = 4;

/** Items that must be read in full. Their changes in the feed don't contain all new values. */
export interface HydrationNeed {
  itemIds: IdSet;
  /** The time of the items' earliest change, as ISO 8601 in UTC. */
  changedSince: string;
}

export interface HydrationMeans {
  /** The gate that admits exports; undefined if exports aren't allowed. */
  gate: ExportGate | undefined;
  exports: Pick<AskedExport, 'format' | 'fitId'>;
  /** The maximum number of requests per second; null if it is unlimited. */
  ratePerSecond: number | null;
  parts: readonly DatasetPart[];
}

/** Chooses how to read a dataset's remaining items. Throws `snapshot_incomplete` if too few calls are left. */
function chooseWay(
  { dataset, client }: DatasetPart,
  { exports }: RunProgress,
  changed: ChangedItems,
  { gate, ratePerSecond }: HydrationMeans,
  io: Io,
): HydrationChoice {
  const { choice, refusal } = planHydration(changed, {
    allowance: gate?.left(),
    callsMade: BigInt(client.calls()),
    ratePerSecond,
    broken: gate && findBrokenChanged(gate.memory, io.now(), dataset),
    // A run requests an export of changed items at most once for each dataset.
    isTaken: exports.ofChanged.some((taken) => taken.dataset === dataset),
  });
  if (refusal !== undefined) throw refusal;
  return choice;
}

type Land = (part: DatasetPart, body: Buffer, items: Pick<ItemPage, 'ids' | 'rows'>, page?: number) => Promise<void>;

/**
 * Reads the needed items in full (API §4, /items and /items/{id}), and writes one item per line. Skips items that are
 * no longer visible. Removes each item that was read from `need.itemIds`. Calls `onFile` for each closed file, starting
 * with the files of earlier attempts.
 */
export async function landHydration(
  client: ApiClient,
  landing: Landing,
  need: HydrationNeed,
  onFile: (file: ItemFile) => void,
  io: Io,
  means: HydrationMeans,
): Promise<void> {
  const { journal } = landing;
  const { parts, gate, exports } = means;
  const wanted = BigInt(need.itemIds.size);
  let handed = 0;
  const handOver = () => {
    const files = listItemFiles(landing, 'hydrate');
    for (const file of files.slice(handed)) onFile(file);
    handed = files.length;
  };
  for (const file of listItemFiles(landing, 'hydrate')) await takeOff(need.itemIds, file.path, exports.fitId);
  handOver();
  const files = new ItemFiles(landing, 'hydrate', io);
  const inOrder = pLimit(1);
  const land: Land = (part, body, { ids, rows: slices }, page) =>
    inOrder(async () => {
      const isFull = await files.land(part, body, slices, page);
      for (const id of ids) need.itemIds.delete(id);
      io.log('debug', 'landed', { what: 'hydration', rows: ids.length });
      const rows = wanted - BigInt(need.itemIds.size);
      io.progress({
        step: 'land',
        part: 'hydrate',
        rows,
        totalRows: wanted,
        bytes: countBytes(journal.state.pages.hydrate),
      });
      if (isFull) handOver();
    });
  try {
    for (const [index, part] of parts.entries()) {
      // Stops reading pages if single reads take no more calls than one page for each remaining dataset.
      if (parts.length > 1 && need.itemIds.size <= parts.length - index) break;
      // An earlier attempt has begun reading single items, because pages wouldn't save calls. Continues with single
      // items.
      if (journal.state.hydration.hasSingles) break;
      const isExported = await readChangedPages(part, landing, need, land, async (facts) => {
        const choice = chooseWay(part, journal.state, facts, means, io);
        io.log('info', 'hydration.chosen', { ...choice });
        const { way, reason } = choice;
        await journal.append({ type: 'chosen', what: 'hydration', way, reason, calls: client.calls() });
        return choice.way;
      });
      if (!isExported || gate === undefined) continue;
      await files.close();
      await landHydrationExport(part, landing, need, { ...exports, gate }, handOver, io);
      // If the export was interrupted, this reads the missing items from pages.
      await readChangedPages(part, landing, need, land, async () => 'pages');
    }
    await readSingleItems(client, need, land);
  } finally {
    await files.close();
  }
  handOver();
  await journal.append({ type: 'hydrate.done', calls: client.calls() });
  const bytes = countBytes(journal.state.pages.hydrate);
  io.progress({ step: 'land', part: 'hydrate', rows: wanted, totalRows: wanted, bytes, done: true });
}

/**
 * Reads the pages of changed items that earlier attempts haven't read. Requests newly listed items first: their order
 * doesn't change during reading, and most of the needed items are new. Stops when single reads of the remaining items
 * take fewer calls. Returns true if the first page shows that an export is cheaper.
 */
async function readChangedPages(
  part: DatasetPart,
  { journal }: Landing,
  need: HydrationNeed,
  land: Land,
  choose: (facts: ChangedItems) => Promise<HydrationChoice['way']>,
): Promise<boolean> {
  const query = { changedSince: new Date(need.changedSince), status: 'all', sort: '-firstSeen', size: ITEMS_A_PAGE };
  const landed = journal.state.hydration.pages.get(part.dataset) ?? new Set();
  let next = 0;
  let total = Number.POSITIVE_INFINITY;
  while (need.itemIds.size > 1 && next < total) {
    const before = need.itemIds.size;
    const isFirst = total === Number.POSITIVE_INFINITY;
    const wave = planWave(before, next, total);
    next += wave.length;
    const missing = wave.filter((page) => !landed.has(page));
    if (missing.length === 0) continue;
    const pages = await runSideBySide(CONCURRENCY, missing, async (page) => {
      const { body } = await part.client.bytes('/items', { ...query, page });
      const answer = readItemPage(body, `/items?page=${page}`);
      if (answer.ids.some((id) => need.itemIds.has(id))) await land(part, body, answer, page);
      return answer;
    });
    total = Math.min(...pages.map((page) => page.totalPages));
    if (isFirst) {
      const rows = pages[0]?.totalElements ?? 0n;
      const left = Math.max(0, total - next);
      if ((await choose({ needed: need.itemIds.size, pages: left, rows })) === 'export') return true;
    }
    const found = (before - need.itemIds.size) / missing.length;
    if (!isAnotherPageWorthIt(need.itemIds.size, found, total - next)) return false;
  }
  return false;
}

/** Returns the pages to request in parallel: one at first, and later no more pages than needed items could fill. */
export function planWave(needed: number, next: number, total: number): number[] {
  const isFirst = total === Number.POSITIVE_INFINITY;
  const pages = isFirst ? 1 : Math.min(CONCURRENCY, Math.ceil(needed / ITEMS_A_PAGE), total - next);
  return Array.from({ length: pages }, (_, index) => next + index);
}

/** True if the next page will probably contain two or more needed items. A page costs one call, like a single item. */
export function isAnotherPageWorthIt(needed: number, foundOnLastPage: number, pagesLeft: number): boolean {
  if (needed === 0 || pagesLeft <= 0) return false;
  return foundOnLastPage >= 2 || needed >= 2 * pagesLeft;
}

async function readSingleItems(client: ApiClient, need: HydrationNeed, land: Land): Promise<void> {
  await runSideBySide(CONCURRENCY, [...need.itemIds], async (id) => {
    const body = await readItem(client, id);
    if (body !== undefined)
      await land({ client, dataset: undefined }, body, { ids: [id], rows: [{ start: 0, end: body.length }] });
  });
}

/** The maximum number of items to read again. If more items are outdated, the next run reads them all. */
const MOST_REREADS = 500;

/**
 * True if items came from pages or exports, which may show older versions than single reads. False after a reread, and
 * once the run's row counts are final.
 */
export function hasReadLists({ journal: { state } }: Landing): boolean {
  return !isPublishable(state) && !state.hydration.isReadAgain && state.hydration.hasLists;
}

/**
 * Reads items again, one by one (API §4, /items/{id}), if pages showed older versions of these items than the feed.
 * Does so once in each run. If the requests fail, a later run reads the items.
 */
export async function landRereads(
  client: ApiClient,
  landing: Landing,
  itemIds: readonly bigint[],
  callsLeft: bigint | null,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  const isAffordable = callsLeft === null || BigInt(itemIds.length) * 10n <= callsLeft;
  if (itemIds.length === 0 || itemIds.length > MOST_REREADS || !isAffordable) return;
  await journal.append({ type: 'hydrate.again', items: itemIds.length, calls: client.calls() });
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'hydrate', itemIds, io).catch((error: unknown) => skipSample(error, io));
}
