import type { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import type { IdSet } from '../../io/id-set.js';
import type { Io } from '../../io/io.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { readMemory } from '../../journal/memory.js';
import { findForeignChanges } from '../../lake/foreign-changes.js';
import { findLake } from '../../lake/lake.js';
import { type LockedLake, withLockedLake } from '../../lake/locked-lake.js';
import { readPointer } from '../../lake/pointer.js';
import { readTable } from '../../lake/read.js';
import { createTableViews } from '../../lake/views.js';
import { countBesideRun, countCallsLeft } from '../../plan/allowance.js';
import { limitClient } from '../../run/open/account.js';
import { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, sql } from '../../sql/sql.js';
import type { Lake } from '../../tables/layout.js';
import { hasOpenBackfill, landHistories, listReadHistories, listWaitingHistories } from './land-histories.js';

/** The result of downloading item histories outside a run, with one call for each item. */
export interface TakenHistories {
  asked: number;
  /** The number of items whose histories weren't downloaded, because there were no calls for them. */
  left: number;
}

const NONE: TakenHistories = { asked: 0, left: 0 };

/**
 * If the pipeline sets `source.history: items`, downloads the histories that haven't been downloaded before (API §4,
 * /items/{id}/history). Uses only calls that runs don't need. The next run adds the histories to the lake. Does nothing
 * while a run is unfinished. Returns undefined if the lake has no items yet.
 */
export async function takeHistories(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal,
  connect: typeof createClient,
  provide: Lake['provide'],
): Promise<TakenHistories | undefined> {
  const lake = await findLake(pipeline.lake.path);
  const items = await readTable(lake, 'items');
  if (items.version < 0n) return undefined;
  // If another program has committed to the items table, this downloads nothing. The next run must first repair or
  // reject that commit.
  if ((await findForeignChanges(lake, [items], await readPointer(lake))).length > 0) return NONE;
  const { applied } = await readTable(lake, 'runs');
  if ((await peekUnfinishedRun(lake.root, applied.run ?? 0n)) !== undefined) return NONE;
  return withLockedLake(pipeline.lake.path, io, signal, async (locked) => {
    const missing = await listMissingHistories({ ...locked, lake: { ...lake, provide } });
    if (missing.size === 0 && !(await hasOpenBackfill(lake.root))) return NONE;
    const waiting = await listWaitingHistories(lake.root);
    const choose = (calls: bigint | null) => {
      const itemIds = [...waiting];
      const many = waiting.length + countBesideRun(missing.size, calls);
      for (const id of missing) {
        if (itemIds.length >= many) break;
        itemIds.push(id);
      }
      return { itemIds, left: missing.size + waiting.length - itemIds.length };
    };
    try {
      const taken = await landItemHistories(pipeline, locked, choose, io, connect);
      io.log('info', 'histories', { ...taken });
      return taken;
    } catch (error) {
      // The calls are used up. The downloaded histories are kept for a later run, and the sync can still succeed.
      if (!(error instanceof PricelakeError) || !['budget', 'quota'].includes(error.code)) throw error;
      io.log('warn', 'histories.waiting', { left: missing.size, reason: error.message });
      return { asked: 0, left: missing.size };
    }
  });
}

/** Downloads the histories that `choose` selects, given the number of calls that are left (null if unlimited). */
export async function landItemHistories(
  pipeline: Pipeline,
  { lake, stop }: Pick<LockedLake, 'lake' | 'stop'>,
  choose: (calls: bigint | null) => { itemIds: readonly bigint[]; left: number },
  io: Io,
  connect: typeof createClient,
): Promise<TakenHistories> {
  const { baseUrl, apiKey } = pipeline.source;
  const client = connect({ baseUrl, apiKey, signal: stop }, io);
  try {
    const { plan, allowance } = await limitClient(client, pipeline.budget);
    const { itemIds, left } = choose(countCallsLeft(allowance, 0n));
    return { asked: await landHistories(client, lake.root, itemIds, plan, io, left), left };
  } finally {
    await client.close();
  }
}

async function listMissingHistories({ lake, db }: Pick<LockedLake, 'lake' | 'db'>): Promise<IdSet> {
  await createTableViews(db, lake, ['items']);
  return findMissingHistories(new RelationGraph(db), lake, code('items'));
}

/**
 * Finds items that the service still returns, and whose history has neither been downloaded nor added to the lake.
 * @param items rows of the items table
 */
export async function findMissingHistories(graph: RelationGraph, lake: Lake, items: Relation | Sql): Promise<IdSet> {
  const missing = await graph.itemIds(sql`${items} WHERE gone_at IS NULL`);
  for (const id of listReadHistories(await readMemory(lake))) missing.delete(id);
  for (const id of await listWaitingHistories(lake.root)) missing.delete(id);
  return missing;
}
