import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PlannedRun } from '../account/read-plan.js';
import { ITEMS_A_PAGE } from '../api/contract.js';
import { listSelectedParts } from '../extract/dataset-client.js';
import { findPendingChanges, readChanges } from '../merge/changes.js';
import { DOUBTED_COLUMNS } from '../merge/compare-rows.js';
import { findNeeds } from '../merge/merge.js';
import { readRejectedRows } from '../merge/rejects.js';
import { type BrokenExport, changedExport, explainBroken } from '../plan/broken-exports.js';
import { type Ahead, countPages } from '../plan/estimate.js';
import { planHydration } from '../plan/plan-hydration.js';
import { countItems } from '../run/run-planner.js';
import type { CursorWindow } from '../tables/cursor-window.js';
import type { WaitingFeed } from './estimate-feed.js';
import type { EstimateSource } from './estimate-source.js';

/**
 * What reading items whole would take: those about which a page of the feed says too little, found and read as a run does
 * it; where more changes wait, in proportion. What changed is counted by one call (section 4, /items, `changedSince`).
 */
export async function estimateNeeds(
  source: EstimateSource,
  { plan, gate }: PlannedRun,
  feed: WaitingFeed,
): Promise<Ahead['hydration']> {
  const need = await findPageNeeds(source, feed);
  if (need === undefined) return undefined;
  const rowsOfPage = BigInt(feed.page?.changes.length ?? 1);
  const needed = Number((BigInt(need.itemIds.size) * feed.changes.count + rowsOfPage - 1n) / rowsOfPage);
  if (needed === 1) return { calls: 1, rows: 0n, exact: feed.changes.exact, reason: 'an item' };
  let changed = 0n;
  let broken: BrokenExport | undefined;
  for (const part of listSelectedParts(source.client, source.selection)) {
    broken ??= changedExport(gate.memory, part.dataset).findBroken(source.io.now());
    changed += await countItems(part, { changedSince: new Date(need.changedSince) });
  }
  const pages = countPages(changed, ITEMS_A_PAGE);
  const { choice } = planHydration(
    { needed, pages: Math.max(0, pages - 1), rows: changed },
    {
      allowance: gate.left(),
      callsMade: BigInt(source.client.calls()),
      ratePerSecond: plan.limits.ratePerSecond ?? null,
      broken,
    },
  );
  // The first page is read before the way is chosen; it may hold all that is needed.
  const isOnePage = pages <= 1;
  const rest = isOnePage ? { calls: 0, rows: 0n } : choice;
  return {
    calls: 1 + rest.calls,
    rows: rest.rows,
    exact: false,
    reason: `about ${needed} items of ${changed} changed${broken === undefined ? '' : `; ${explainBroken(broken)}`}`,
  };
}

/** As normalizing does it, over the lake as it is. */
async function findPageNeeds(source: EstimateSource, { body, page }: WaitingFeed) {
  const { graph, before, typing, tables, workFolder, io } = source;
  if (body === undefined || page === undefined || page.changes.length === 0) return undefined;
  const file = path.join(workFolder, 'feed-page.ndjson');
  const lines = page.changes.map(({ start, end }) => body.toString('utf8', start, end).replaceAll(/[\r\n]/g, ' '));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const typed = await typing.typeChanges({ path: file, rows: lines.length, origin: 'feed' });
  const window: CursorWindow = {
    known: undefined,
    from: 0n,
    applyFrom: tables.items.applied.cursor ?? 0n,
    to: page.nextCursor,
    ahead: 0n,
    watermark: undefined,
    isApplied: true,
  };
  const lake = {
    items: await before.rows('items'),
    history: await before.rows('history'),
    stale_items: await before.rows('stale_items'),
  };
  const runId = 'plan';
  const changes = await readChanges(graph, [typed], window, lake, { runId, isSelected: false });
  const pending_changes = findPendingChanges(graph, window, changes, lake);
  const rejected_rows = readRejectedRows(graph, [typed]);
  const exported_items = graph.empty('exported_items', 'items');
  const rejected_items = graph.model(
    'rejected_items',
    { exported_items, feed_changes: changes.feed, items: lake.items, rejected_rows },
    { watermark: null },
  );
  const doubted_items = graph.empty('doubted_items', DOUBTED_COLUMNS);
  const needs = {
    base_items: lake.items,
    doubted_items,
    pending_changes,
    rejected_items,
    stale_items: lake.stale_items,
  };
  const values = { feed_skew: null, read_at: io.now().toISOString(), run_id: runId, watermark: null };
  return (await findNeeds(graph, needs, values)).wanted;
}
