import { isNamedId } from '../../formats/row-id.js';
import type { Io } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import type { Landing } from '../../journal/landings.js';
import { skipSample } from '../../source/allow-skipping.js';
import { landSingleItems, listItemFiles, readLandedIds } from '../../source/item-files.js';
import { code, sql } from '../../sql/sql.js';
import { ItemReader } from '../../typing/typed-rows.js';
import type { LandedInput } from '../land/land-run.js';
import type { Engine, Ledger, World } from '../open/run-parts.js';
import type { ComparedRun } from './apply.js';

/** For this long after `changes` were seen to be partial, they are not trusted. Then samples may show it again. */
const DISTRUST_MS = 30 * 24 * 3600 * 1000;

/** True if this run reads all changed items whole, because a sample has shown that `changes` leave out values. */
export async function isDistrusted(io: Io, { landing, memory }: Ledger, { account }: LandedInput): Promise<boolean> {
  const { journal } = landing;
  const { partialAt } = memory.state;
  const isRemembered = partialAt !== undefined && io.now().getTime() - partialAt.getTime() < DISTRUST_MS;
  const isOpen = account !== undefined && journal.state.stage === 'landed';
  if (isRemembered && isOpen && !journal.state.hydration.isDistrusted) await journal.append({ type: 'partial' });
  return journal.state.hydration.isDistrusted;
}

/** The half of a run's sample that is drawn from items whose new values came only from the feed. */
export interface DescribedSample {
  ids: readonly bigint[];
  /** True if the service shows values of an item that its changes did not contain. */
  isPartial: boolean;
}

const NO_SAMPLE: DescribedSample = { ids: [], isPartial: false };

/** Values that change together with the price, or that no change has to contain. */
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
 * If `changes` are complete (section 2, Change: `changes`), reads some of the changed items whole, and compares the
 * values that the changes don't contain. Journals and remembers a difference.
 */
export async function compareDescribed(
  world: World,
  { landing, memory }: Ledger,
  engine: Engine,
  compared: ComparedRun,
): Promise<DescribedSample> {
  const { landed } = compared;
  const { graph } = engine;
  const size = BigInt(Math.ceil(landed.plan.comparisons.sample / 2));
  if (size === 0n) return NO_SAMPLE;
  const { pending, needed, exported, baseRows } = compared;
  const rows = await graph.rows(sql`SELECT item_id FROM ${baseRows.rows}
    WHERE item_id IN (SELECT item_id FROM ${pending} WHERE item_id IS NOT NULL)
      AND item_id NOT IN (SELECT item_id FROM ${needed.rows}) AND item_id NOT IN (SELECT item_id FROM ${exported.rows})
    ORDER BY hash(item_id, ${landing.runId}) LIMIT ${size}`);
  const ids = rows.map(({ item_id }) => item_id as bigint);
  if (ids.length === 0) return NO_SAMPLE;
  const isOpen = landed.account !== undefined && landing.journal.state.stage === 'landed';
  if (isOpen) await readDescribed(world, landing, ids);
  if (!isOpen || (await countUnannounced(engine, landing, compared)) === 0n) return { ids, isPartial: false };
  await memory.append({ type: 'partial', at: world.io.now().toISOString() });
  await landing.journal.append({ type: 'partial' });
  world.io.log('warn', 'changes.partial');
  return { ids, isPartial: true };
}

async function readDescribed({ client, io }: World, landing: Landing, ids: readonly bigint[]): Promise<void> {
  const left = new Set(ids);
  for (const { path } of listItemFiles(landing, 'sample')) {
    for await (const id of readLandedIds(path, isNamedId)) left.delete(id);
  }
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'sample', [...left], io).catch((error: unknown) => skipSample(error, io));
}

/** Counts items whose other values differ although nothing has happened to them since their newest known change. */
async function countUnannounced({ graph, typing }: Engine, landing: Landing, compared: ComparedRun): Promise<bigint> {
  const files = listItemFiles(landing, 'sample');
  const typed = await settleAll(files.map((file) => typing.typeApart({ ...file, origin: 'page' })));
  const { rows: exported_items } = await new ItemReader(graph, compared.datasetPattern).exported(typed);
  const { baseRows, pending, skew } = compared;
  const differing = graph.model('compare', { exported_items, items: baseRows.rows }, { feed_skew: skew.us });
  const moved = code(MOVED.map((name) => `'${name}'`).join(', '));
  return graph.count(sql`FROM ${differing} AS d JOIN ${exported_items} AS e USING (item_id)
    JOIN (SELECT item_id, max(observed_at) AS told_at FROM ${pending} GROUP BY item_id) AS t USING (item_id)
    WHERE NOT d.is_new AND e.last_changed_at <= t.told_at + INTERVAL 2 SECOND
      AND len(list_filter(d.differences, lambda name: name NOT IN (${moved}))) > 0`);
}
