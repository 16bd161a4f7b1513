import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ITEMS_A_PAGE } from '../../api/contract.js';
import { countOf, formatCount } from '../../formats/count.js';
import type { BrokenExport, Memory } from '../../journal/memory.js';
import type { RunCaps } from '../../plan/allowance.js';
import { explainBroken, findBrokenChanged } from '../../plan/broken-exports.js';
import { countPages } from '../../plan/count-pages.js';
import { planHydration } from '../../plan/plan-hydration.js';
import { listSelectedParts } from '../../source/dataset-client.js';
import { countItems } from '../../source/datasets.js';
import type { CursorWindow } from '../../tables/cursor-window.js';
import { findPendingChanges, readChanges } from '../apply/changes.js';
import { addChanged, DOUBTED_COLUMNS } from '../apply/compare-rows.js';
import { findNeeds } from '../apply/judge-reads.js';
import { readRejectedRows } from '../apply/rejects.js';
import type { Account } from '../open/account.js';
import type { Engine } from '../open/run-parts.js';
import type { ListingProof, Probe } from '../open/wings.js';
import type { Witness } from '../open/witness.js';
import type { FactSource } from '../plan/run-planner.js';
import type { Ahead } from './estimate.js';
import type { WaitingFeed } from './estimate-landing.js';

/** The data for an estimate. It is the data that a run uses, except that no lock is needed. */
export interface EstimateSource extends FactSource, Pick<Engine, 'typing' | 'workFolder'> {
  caps: RunCaps;
  witnesses: readonly Witness[];
  listing: ListingProof | undefined;
  probe: Probe | undefined;
  memory: Pick<Memory, 'state' | 'append'>;
}

/**
 * Estimates the number of calls for reading items in full. Counts the items that the run would read because of the
 * first feed page, and extrapolates their number if more changes follow. Counts changed items per dataset (API §4,
 * /items, `changedSince`).
 */
export async function estimateNeeds(
  source: EstimateSource,
  { plan, gate }: Account,
  feed: WaitingFeed,
  overlap: bigint | undefined,
): Promise<Ahead['hydration']> {
  const need = await findPageNeeds(source, feed, overlap);
  if (need === undefined) return undefined;
  const rowsOfPage = BigInt(feed.page?.changes.length ?? 1);
  const needed = Number((BigInt(need.itemIds.size) * feed.changes.count + rowsOfPage - 1n) / rowsOfPage);
  if (needed === 1) return { calls: 1, rows: 0n, exact: feed.changes.exact, reason: 'an item' };
  let changed = 0n;
  let broken: BrokenExport | undefined;
  for (const part of listSelectedParts(source.client, source.selection)) {
    broken ??= findBrokenChanged(gate.memory, source.io.now(), part.dataset);
    changed += await countItems(part.client, { changedSince: new Date(need.changedSince) });
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
  // Adds the first page of changed items. A run always reads it before choosing how to read the remaining items.
  const isOnePage = pages <= 1;
  const rest = isOnePage ? { calls: 0, rows: 0n } : choice;
  return {
    calls: 1 + rest.calls,
    rows: rest.rows,
    exact: false,
    reason: `about ${countOf(needed, 'item')} of ${formatCount(changed)} changed${broken === undefined ? '' : `; ${explainBroken(broken)}`}`,
  };
}

/** Finds the items that a run would read in full because of the changes on the first feed page. */
async function findPageNeeds(source: EstimateSource, { body, page }: WaitingFeed, overlap: bigint | undefined) {
  const { graph, before, typing, tables, workFolder, io } = source;
  if (body === undefined || page === undefined || page.changes.length === 0) return undefined;
  const file = path.join(workFolder, 'feed-page.ndjson');
  const lines = page.changes.map(({ start, end }) => body.toString('utf8', start, end).replaceAll(/[\r\n]/g, ' '));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const typed = await typing.typeChanges({ path: file, rows: lines.length, origin: 'feed' });
  const applyFrom = tables.items.applied.cursor ?? 0n;
  const window: CursorWindow = {
    known: undefined,
    from: 0n,
    again: overlap ?? applyFrom,
    applyFrom,
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
  const doubted_items = addChanged(graph, graph.empty('doubted_items', DOUBTED_COLUMNS), {
    changed: changes.late,
    exported: exported_items,
  });
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
