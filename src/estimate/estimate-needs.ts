import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { PlannedRun } from '../account/read-plan.js';
import { int64 } from '../api/contract.js';
import { createItemViews } from '../merge/batch.js';
import { createNewChanges, createPendingChanges } from '../merge/changes.js';
import { findNeeds } from '../merge/merge.js';
import { countLeft, findTightest } from '../plan/allowance.js';
import { type BrokenExport, changedExport, explainBroken } from '../plan/broken-exports.js';
import { chooseHydration } from '../plan/choose-hydration.js';
import type { Ahead } from '../plan/estimate.js';
import { listSelectedParts } from '../run/dataset-selection.js';
import type { CursorWindow } from '../tables/cursor-window.js';
import type { WaitingFeed } from './estimate-feed.js';
import type { EstimateSource } from './estimate-source.js';

const counted = z.looseObject({ totalElements: int64 });
const ITEMS_A_PAGE = 500n;

/**
 * What reading items whole would take: those that a page of the feed tells too little of, found and read as a run does
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
  const query = { status: 'all', changedSince: need.changedSince, size: 1 };
  let changed = 0n;
  let broken: BrokenExport | undefined;
  for (const { client, dataset } of listSelectedParts(source.client, source.selection)) {
    broken ??= changedExport(gate.memory, dataset).findBroken(source.io.now());
    changed += (await client.json('/items', query, counted)).totalElements;
  }
  const { calls, rows, quota } = gate.left();
  const tightest = findTightest(rows, quota);
  const pages = Number((changed + ITEMS_A_PAGE - 1n) / ITEMS_A_PAGE);
  const choice = chooseHydration({
    needed,
    pages: Math.max(0, pages - 1),
    rows: changed,
    callsLeft: calls === undefined ? null : countLeft(calls),
    rowsLeft: tightest === undefined ? null : countLeft(tightest),
    ratePerSecond: plan.limits.ratePerSecond ?? null,
    withoutExport: broken && explainBroken(broken),
  });
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
async function findPageNeeds({ db, typing, tables, workFolder }: EstimateSource, { body, page }: WaitingFeed) {
  if (body === undefined || page === undefined || page.changes.length === 0) return undefined;
  const file = path.join(workFolder, 'feed-page.ndjson');
  const lines = page.changes.map(({ start, end }) => body.toString('utf8', start, end).replaceAll(/[\r\n]/g, ' '));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const typed = await typing.typeChanges({ path: file, rows: lines.length, origin: 'feed' });
  await createItemViews(db, []);
  const window: CursorWindow = {
    known: undefined,
    from: 0n,
    applyFrom: tables.items.applied.cursor ?? 0n,
    to: page.nextCursor,
    ahead: 0n,
    watermark: undefined,
    isApplied: true,
  };
  await createNewChanges(db, [typed], window, { isSelected: false });
  await createPendingChanges(db, window);
  await db.run('CREATE OR REPLACE TEMP VIEW base_items AS SELECT * FROM items');
  await db.run('CREATE OR REPLACE TEMP TABLE doubted_items (item_id BIGINT, observed_at TIMESTAMP WITH TIME ZONE)');
  return findNeeds(db);
}
