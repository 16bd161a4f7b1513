/** How the world lives: listings come, change, go and come back, websites are renamed, items get out of sight. */
import { addItem, EVENTS, record, relist, setPrice } from './events.js';
import { largestLag } from './habits.js';
import { type Item, SECOND, type World } from './world.js';

const TEXTS = ['CC BY 4.0, Shop GmbH', 'ODbL © Příklad', 'Etalab 2.0\n“open”'];

export function populate(world: World, items: number, sites = 4): void {
  const { random } = world;
  for (let n = 1; n <= sites; n++) {
    const attribution = n % 2 === 0 ? random.pick(TEXTS) : null;
    const id = BigInt(n * 11);
    const site = { id, name: `Shop ${n}`, host: `shop${n}.example`, attribution };
    world.sites.set(id, site);
    world.keepSite(site);
  }
  for (let n = 0; n < items; n++) addItem(world);
  for (let n = 0; n < items / 2; n++) step(world);
  world.settle();
}

/** One thing happens. */
export function step(world: World): void {
  const { random } = world;
  world.tick(random.pick([1, 3, 40]));
  const item = random.pick([...world.items.values()]);
  const isNews = random.fraction() < 0.12;
  const isBack = random.fraction() < 0.5;
  const event = random.pick(EVENTS);
  if (item === undefined || isNews) addItem(world);
  else if (item.removedAt === null) event(world, item);
  else if (isBack) relist(world, item);
  if (world.habits.lastSeen === 'alone') seeSome(world);
}

/** A scrape finds items as they were: nothing tells of that. */
function seeSome(world: World): void {
  const listed = world.visibleItems().filter((item) => item.removedAt === null);
  for (const item of listed.slice(0, 3)) {
    item.lastSeenAt = world.stamp();
    world.keep(item);
  }
}

/**
 * The license text of a site, its name or its host is another from now on; one of its items changes in price. At times, a
 * new site has its first item.
 */
export function renameSite(world: World, round: number): void {
  const { random } = world;
  const listed = world.visibleItems().filter((item) => item.removedAt === null && world.isCopied(item));
  const isMoved = random.fraction() < 0.5;
  if (listed.length === 0) return;
  const item = random.pick(listed);
  const site = world.site(item.siteId);
  world.now += SECOND;
  if (site.attribution !== null) site.attribution = `${site.attribution} (edition ${round})`;
  if (isMoved) site.host = `${site.host.split('.')[0]}.since${round}.example`;
  else site.name = `${site.name.split(',')[0]}, since ${round}`;
  world.keepSite(site);
  record(world, item, 'CHANGED', {}, setPrice(item, (item.price ?? 0) + 1));
  if (random.fraction() < 0.3) openSite(world, BigInt(1000 + round));
}

function openSite(world: World, id: bigint): void {
  const site = { id, name: `Shop ${id}`, host: `shop${id}.example`, attribution: null };
  world.sites.set(id, site);
  world.keepSite(site);
  addItem(world, id);
}

/**
 * A dataset has another name from now on, or both exchange theirs, and so it is in every item; rows that lag would have
 * the former names for good.
 */
export function renameDataset(world: World, round: number): void {
  if (!world.habits.renaming || largestLag(world.habits) > 0) return;
  const [former, other] = world.datasets;
  const isExchanged = world.random.fraction() < 0.5;
  world.now += SECOND;
  world.datasets = isExchanged ? [other, former] : [`${former.split(' since ')[0]} since ${round}`, other];
  const names = new Map([
    [former, world.datasets[0]],
    [other, world.datasets[1]],
  ]);
  for (const item of world.items.values()) {
    item.datasets = item.datasets.map((name) => names.get(name) ?? name);
    world.keep(item);
  }
}

/** Items leave the caller's data without an event, and those that left before come back. */
export function leaveAndReturn(world: World): void {
  const { random, habits } = world;
  const away = [...world.items.values()].filter((item) => item.sight === 'gone');
  const items = world.visibleItems();
  const leaving = [random.pick(items), random.pick(items)];
  if (habits.leaving === 'never' || items.length < 10) return;
  world.now += SECOND;
  if (habits.leaving === 'leave and return') for (const item of away) show(world, item, 'visible');
  for (const item of leaving) show(world, item, 'gone');
}

/** A new item never comes to be seen by id. */
export function hideOne(world: World): void {
  if (world.habits.hidden) show(world, addItem(world), 'hidden');
}

function show(world: World, item: Item, sight: Item['sight']): void {
  item.sight = sight;
  if (sight === 'gone') item.hasLeft = true;
  world.keep(item);
}
