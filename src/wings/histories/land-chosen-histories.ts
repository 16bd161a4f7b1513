import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { type LockedLake, withLockedLake } from '../../lake/locked-lake.js';
import { readTable } from '../../lake/read.js';
import { createTableViews } from '../../lake/views.js';
import { refuseNarrowing } from '../../run/open/dataset-selection.js';
import type { Database } from '../../sql/connection.js';
import type { Lake } from '../../tables/layout.js';
import { landItemHistories } from './fetch-histories.js';

/** Selects the items whose histories are requested, either by their IDs or by an SQL condition on the items table. */
export type HistorySelection = { itemIds: readonly bigint[] } | { where: string };

/**
 * Downloads the histories of chosen items, with one call for each item. A history goes back as many days as the plan's
 * historyDays allows (API §4, /items/{id}/history). The next run adds missing entries to the `history` table. If a
 * backfill was interrupted, downloads the rest of it.
 * @returns the number of chosen items, and the number of histories that were requested now, because they hadn't been
 *   downloaded before
 * @throws PricelakeError `usage` if the condition isn't valid SQL or selects no items; `budget` or `quota` if too few
 *   calls are left, in which case the downloaded histories are kept
 */
export function landChosenHistories(
  pipeline: Pipeline,
  selection: HistorySelection,
  io: Io,
  signal: AbortSignal,
  provide: Lake['provide'],
): Promise<{ items: number; asked: number }> {
  const land = async ({ lake, db, stop }: LockedLake) => {
    await createTableViews(db, { ...lake, provide });
    refuseNarrowing(pipeline, await readTable(lake, 'items'), undefined);
    const itemIds = await selectItemIds(db, selection);
    const choose = () => ({ itemIds, left: 0 });
    const { asked } = await landItemHistories(pipeline, { lake, stop }, choose, io, createClient);
    return { items: itemIds.length, asked };
  };
  return withLockedLake(pipeline.lake.path, io, signal, land, pipeline.lake.memory);
}

async function selectItemIds(db: Database, selection: HistorySelection): Promise<readonly bigint[]> {
  const itemIds = 'itemIds' in selection ? selection.itemIds : await queryItemIds(db, selection.where);
  if (itemIds.length > 0) return itemIds;
  throw new PricelakeError('usage', '--backfill selects no items', {
    hint: 'Run `pricelake query` to see which items the table contains.',
  });
}

async function queryItemIds(db: Database, where: string): Promise<bigint[]> {
  const sql = `SELECT item_id FROM items WHERE (${where}\n) ORDER BY item_id`;
  try {
    const statements = await db.connection.extractStatements(sql);
    if (statements.count !== 1) throw new Error('expected one condition');
    return (await db.rows(sql)).map((row) => row.item_id as bigint);
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n', 1)[0] as string) : String(cause);
    throw new PricelakeError(
      'usage',
      `--backfill ${where}: ${reason}`,
      { hint: 'Use comma-separated item ids, or one SQL condition on the items table.' },
      { cause },
    );
  }
}
