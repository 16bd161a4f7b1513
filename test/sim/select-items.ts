/** Which items an answer is of: the filters of section 4. */
import type { Item, View, World } from './world.js';

/** Whether an item is in the dataset that is asked for. */
export function isAsked({ datasets }: World, query: URLSearchParams): (item: Item | undefined) => boolean {
  const id = query.get('dataset');
  return (item) => id === null || item?.datasets.includes(datasets[Number(id) - 1] ?? '') === true;
}

/** Filters of `/items` and `/export`. */
export function selectItems(world: World, view: View, query: URLSearchParams): Item[] {
  const status = query.get('status') ?? 'active';
  const since = query.get('changedSince');
  const site = query.get('site');
  const isOfIt = isAsked(world, query);
  return view.items.filter((item) => {
    if (!isOfIt(item)) return false;
    const isLeftOut = status === 'all' && world.habits.removedItems === 'none';
    if ((status === 'active' || isLeftOut) && item.removedAt !== null) return false;
    if (status === 'removed' && item.removedAt === null) return false;
    if (site !== null && item.siteId !== BigInt(site)) return false;
    return since === null || findChangeTime(world, item) > BigInt(Date.parse(since)) * 1_000_000n;
  });
}

/** What `changedSince` and `-lastChanged` go by. */
export function findChangeTime({ habits }: World, item: Item): bigint {
  return habits.stateTimes === 'kept and found' ? item.touchedAt : item.lastChangedAt;
}
