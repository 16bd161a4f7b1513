import { isNamedId } from '../../formats/row-id.js';
import { settleAll } from '../../io/side-by-side.js';
import type { Landing } from '../../journal/landings.js';
import type { DescribedItems, DescribedSample, WatchedRun } from '../../run/open/witness.js';
import { skipSample } from '../../source/allow-skipping.js';
import { landSingleItems, listItemFiles, readLandedIds } from '../../source/item-files.js';
import { code, sql } from '../../sql/sql.js';
import { ItemReader } from '../../typing/typed-rows.js';

const NO_SAMPLE: DescribedSample = { ids: [], isPartial: false };

/** Fields that change together with the price, or that an entry of the change feed needn't mention. */
const MOVED = [
  'price',
  'previousPrice',
  'priceChangedAt',
  'lastChangedAt',
  'removedAt',
  'firstSeenAt',
  'datasets',
  'source',
];

/**
 * Checks whether changes in the feed list all fields that have changed (API §2, Change: `changes`). Reads some of the
 * changed items in full, and compares the values that their changes don't mention.
 */
export async function compareDescribed(
  { client, io, landing, graph, typing }: WatchedRun,
  described: DescribedItems,
): Promise<DescribedSample> {
  const size = BigInt(Math.ceil(described.plan.comparisons.sample / 2));
  if (size === 0n) return NO_SAMPLE;
  const { items, pending, needed, exported } = described;
  const rows = await graph.rows(sql`SELECT item_id FROM ${items}
    WHERE item_id IN (SELECT item_id FROM ${pending} WHERE item_id IS NOT NULL)
      AND item_id NOT IN (SELECT item_id FROM ${needed}) AND item_id NOT IN (SELECT item_id FROM ${exported})
    ORDER BY hash(item_id, ${landing.runId}) LIMIT ${size}`);
  const ids = rows.map(({ item_id }) => item_id as bigint);
  if (ids.length === 0) return NO_SAMPLE;
  if (!described.mayAsk) return { ids, isPartial: false };
  await readDescribed({ client, io }, landing, ids);
  return { ids, isPartial: (await countUnannounced({ graph, typing }, landing, described)) > 0n };
}

async function readDescribed(
  { client, io }: Pick<WatchedRun, 'client' | 'io'>,
  landing: Landing,
  ids: readonly bigint[],
): Promise<void> {
  const left = new Set(ids);
  for (const { path } of listItemFiles(landing, 'sample')) {
    for await (const id of readLandedIds(path, isNamedId)) left.delete(id);
  }
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'sample', [...left], io).catch((error: unknown) => skipSample(error, io));
}

/** Counts items that differ in other fields than MOVED, but didn't change after their newest known change. */
async function countUnannounced(
  { graph, typing }: Pick<WatchedRun, 'graph' | 'typing'>,
  landing: Landing,
  { items, pending, skew, datasetPattern }: DescribedItems,
): Promise<bigint> {
  const files = listItemFiles(landing, 'sample');
  const typed = await settleAll(files.map((file) => typing.typeApart({ ...file, origin: 'page' })));
  const { rows: exported_items } = await new ItemReader(graph, datasetPattern).exported(typed);
  const differing = graph.model('compare', { exported_items, items }, { feed_skew: skew.us });
  const moved = code(MOVED.map((name) => `'${name}'`).join(', '));
  return graph.count(sql`FROM ${differing} AS d JOIN ${exported_items} AS e USING (item_id)
    JOIN (SELECT item_id, max(observed_at) AS told_at FROM ${pending} GROUP BY item_id) AS t USING (item_id)
    WHERE NOT d.is_new AND e.last_changed_at <= t.told_at + INTERVAL 2 SECOND
      AND len(list_filter(d.differences, lambda name: name NOT IN (${moved}))) > 0`);
}
