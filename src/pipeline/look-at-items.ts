import { z } from 'zod';
import { int64 } from '../api/contract.js';
import type { PricelakeError } from '../errors.js';
import { chooseCopy } from '../extract/choose-copy.js';
import { countListed } from '../extract/count-items.js';
import type { Ahead, Count } from '../extract/estimate.js';
import { planShards, type Shard } from '../extract/plan-shards.js';
import { countWholePages, PAGE_SIZE } from '../extract/poll.js';
import type { RunMode } from '../model.js';
import { reachBack, readPollStart } from './extract-run.js';
import type { Lookout } from './lookout.js';
import type { PlannedRun } from './read-plan.js';

/** The items that a run reads whole, and how. */
export interface ItemsAhead extends Partial<Pick<Ahead, 'exports' | 'pages' | 'changedItems'>> {
  /** Calls that count the items of each website. */
  counts: number;
  /** Why they would not be read now. */
  refusal?: PricelakeError;
}

export const NO_ITEMS: ItemsAhead = { counts: 0 };

const counted = z.looseObject({ totalElements: int64 });

async function countItems({ client }: Lookout, query: Record<string, string>): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** All items, by the route that the run would choose, or those that changed since. */
export async function lookAtItems(lookout: Lookout, planned: PlannedRun, mode: RunMode): Promise<ItemsAhead> {
  if (mode === 'poll') return { counts: 0, changedItems: await countChangedItems(lookout) };
  const { journal, client } = lookout;
  const items = journal?.last('fence')?.items ?? (await countItems(lookout, {}));
  const { shards, counts } = await lookAtShards(lookout, planned, items);
  const done = new Set(journal?.all('export.done').map(({ shard }) => shard));
  const missing = shards.filter(({ name }) => !done.has(name));
  const rows = missing.reduce((sum, shard) => sum + shard.rows, 0n);
  const pagesLanded = BigInt(countWholePages({ journal: { entries: journal?.entries ?? [] } }));
  const isPolled = journal?.last('poll.done') !== undefined;
  if (missing.length === 0 || (pagesLanded > 0n && isPolled)) return { counts };
  const facts = { items, exportRows: rows, allowance: planned.gate.left(), pagesLanded };
  const choice = chooseCopy({ ...facts, callsMade: BigInt(client.calls()) });
  if (choice.route === 'pages') {
    const left = Number((items + BigInt(PAGE_SIZE) - 1n) / BigInt(PAGE_SIZE) - pagesLanded);
    // More than one page: a look at what came meanwhile. Then a count.
    return { counts, pages: { calls: left + (left > 1 ? 2 : 1), items, reason: choice.reason } };
  }
  return {
    counts,
    exports: { calls: missing.length, rows },
    // What moves between the shards meanwhile: mostly a page.
    ...(shards.length > 1 && !isPolled ? { changedItems: { count: 0n, exact: false } } : {}),
    ...(choice.route === 'wait' ? { refusal: choice.refusal } : {}),
  };
}

async function lookAtShards({ journal, client, pipeline }: Lookout, { gate }: PlannedRun, items: bigint) {
  const begun: Pick<Shard, 'name' | 'rows'>[] | undefined = journal?.last('shards')?.shards;
  if (begun !== undefined) return { shards: begun, counts: 0 };
  const splitAbove = BigInt(pipeline.source.splitAbove);
  const listed = items > splitAbove ? await countListed(client) : undefined;
  const { shards } = planShards({ items, listed }, gate.left(), splitAbove);
  return { shards, counts: listed === undefined ? 0 : 2 };
}

async function countChangedItems(lookout: Lookout): Promise<Count | undefined> {
  const { journal } = lookout;
  if (journal?.last('poll.done') !== undefined) return undefined;
  const since = journal?.last('poll.round')?.since ?? reachBack(await readPollStart(lookout));
  const landed = journal?.all('poll.page').reduce((sum, page) => sum + BigInt(page.rows), 0n) ?? 0n;
  const changed = await countItems(lookout, { changedSince: since });
  return { count: changed > landed ? changed - landed : 0n, exact: true };
}
