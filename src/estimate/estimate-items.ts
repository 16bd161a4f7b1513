import { z } from 'zod';
import type { PlannedRun } from '../account/read-plan.js';
import { ITEMS_A_PAGE, int64 } from '../api/contract.js';
import type { PricelakeError } from '../errors/errors.js';
import { countListed } from '../extract/count-items.js';
import type { DatasetPart } from '../extract/dataset-client.js';
import { countWholePages } from '../extract/poll.js';
import { explainBroken } from '../plan/broken-exports.js';
import { chooseCopy } from '../plan/choose-copy.js';
import { type Ahead, type Count, countPages } from '../plan/estimate.js';
import { type Counts, planExports, type Shard } from '../plan/plan-shards.js';
import { listSelectedParts } from '../run/dataset-selection.js';
import { reachBack, readPollStart } from '../run/poll-start.js';
import { refuseBrokenCopy } from '../sync/copy-items.js';
import type { RunMode } from '../tables/table.js';
import type { Lookout } from './estimate-facts.js';

/** The items that a run reads whole, and how. */
export interface ItemsAhead extends Partial<Pick<Ahead, 'exports' | 'pages' | 'changedItems'>> {
  /** Calls that count the items of each website. */
  counts: number;
  /** Items that are copied whole. */
  items?: bigint;
  /** Why they would not be read now. */
  refusal?: PricelakeError;
}

export const NO_ITEMS: ItemsAhead = { counts: 0 };

/** Of a run that has not begun. */
const NO_ENTRIES = { all: () => [], last: () => undefined };

const counted = z.looseObject({ totalElements: int64 });

async function countItems({ client }: DatasetPart, query: Record<string, string>): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** All items of `copied`, by the route that the run would choose; in mode poll also those that changed since. */
export async function lookAtItems(
  lookout: Lookout,
  planned: PlannedRun,
  mode: RunMode,
  copied: readonly DatasetPart[],
): Promise<ItemsAhead> {
  const whole = copied.length === 0 ? NO_ITEMS : await lookAtCopy(lookout, planned, copied);
  return mode === 'poll' ? { ...whole, changedItems: await countChangedItems(lookout) } : whole;
}

async function lookAtCopy(lookout: Lookout, planned: PlannedRun, copied: readonly DatasetPart[]): Promise<ItemsAhead> {
  const { journal, client } = lookout;
  const byPart = await countParts(lookout, copied);
  const items = byPart.reduce((sum, part) => sum + part.items, 0n);
  const { shards, counts } = await lookAtShards(lookout, planned, byPart);
  const done = new Set(journal?.all('export.done').map(({ shard }) => shard));
  const missing = shards.filter(({ name }) => !done.has(name));
  const rows = missing.reduce((sum, shard) => sum + shard.rows, 0n);
  const datasets = copied.map(({ dataset }) => dataset);
  const pagesLanded = BigInt(countWholePages({ entries: journal?.entries ?? [] }, datasets));
  const isPolled = journal?.last('poll.done') !== undefined;
  if (missing.length === 0 || (pagesLanded > 0n && isPolled)) return { counts, items };
  const facts = { items, parts: copied.length, exportRows: rows, allowance: planned.gate.left(), pagesLanded };
  const broken = refuseBrokenCopy({ io: lookout.io, landing: { journal: journal ?? NO_ENTRIES } }, planned.gate);
  const choice = chooseCopy({ ...facts, callsMade: BigInt(client.calls()), broken });
  if (choice.route === 'pages') {
    const pages = byPart.map((part) => countPages(part.items, ITEMS_A_PAGE));
    // More than one page: a look at what came meanwhile. Then a count.
    const calls = pages.reduce((sum, count) => sum + count + (count > 1 ? 2 : 1), 0) - Number(pagesLanded);
    return { counts, items, pages: { calls, items, reason: choice.reason } };
  }
  return {
    counts,
    items,
    exports: { calls: missing.length, rows, note: explainTries(planned.gate, missing) },
    // What moves between the shards meanwhile: mostly a page.
    ...(shards.length > 1 && !isPolled
      ? { changedItems: { count: 0n, exact: false, morePages: copied.length - 1 } }
      : {}),
    ...(choice.route === 'wait' ? { refusal: choice.refusal } : {}),
  };
}

/** Exports that broke off in earlier runs, and are due again. */
function explainTries({ memory }: PlannedRun['gate'], shards: readonly Pick<Shard, 'name'>[]): string | undefined {
  const broken = shards.map(({ name }) => memory.find(name)).find((one) => one !== undefined);
  return broken === undefined ? undefined : explainBroken(broken);
}

/** Items of each part, as the run's low watermark has counted them or as they are now. */
async function countParts({ journal }: Lookout, copied: readonly DatasetPart[]) {
  const lowWatermark = journal?.last('watermark');
  const byPart: (DatasetPart & { items: bigint })[] = [];
  for (const part of copied) {
    const known =
      part.dataset === undefined
        ? lowWatermark?.items
        : lowWatermark?.counts?.find((one) => one.dataset === part.dataset)?.items;
    byPart.push({ ...part, items: known ?? (await countItems(part, {})) });
  }
  return byPart;
}

async function lookAtShards(
  { journal, pipeline }: Lookout,
  { gate }: PlannedRun,
  byPart: readonly (DatasetPart & { items: bigint })[],
) {
  const begun: Pick<Shard, 'name' | 'rows'>[] | undefined = journal?.last('shards')?.shards;
  if (begun !== undefined) return { shards: begun, counts: 0 };
  const splitAbove = BigInt(pipeline.source.splitAbove);
  const counts: Counts[] = [];
  for (const { dataset, items, client } of byPart) {
    counts.push({ dataset, items, listed: items > splitAbove ? await countListed(client) : undefined });
  }
  const { shards } = planExports(counts, gate.left(), splitAbove);
  return { shards, counts: 2 * counts.filter(({ listed }) => listed !== undefined).length };
}

async function countChangedItems(lookout: Lookout): Promise<Count | undefined> {
  const { journal } = lookout;
  if (journal?.last('poll.done') !== undefined) return undefined;
  const since = journal?.last('poll.round')?.since ?? reachBack(await readPollStart(lookout));
  const landed = journal?.all('poll.page').reduce((sum, page) => sum + BigInt(page.rows), 0n) ?? 0n;
  let changed = 0n;
  let pages = 0;
  for (const part of listSelectedParts(lookout.client, lookout.selection)) {
    const count = await countItems(part, { changedSince: since });
    changed += count;
    pages += countPages(count, ITEMS_A_PAGE);
  }
  const count = changed > landed ? changed - landed : 0n;
  return { count, exact: true, morePages: landed > 0n ? 0 : pages - countPages(changed, ITEMS_A_PAGE) };
}
