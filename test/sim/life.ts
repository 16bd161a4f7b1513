/** How the world lives: listings come, change, go and come back, websites are renamed, items get out of sight. */
import { addItem, EVENTS, record, relist, setPrice } from './events.js';
import { SECOND, type World } from './world.js';

const TEXTS = ['CC BY 4.0, Shop GmbH', 'ODbL © Příklad', 'Etalab 2.0\n“open”'];

export function populate(world: World, items: number, sites = 4): void {
  const { random } = world;
  for (let n = 1; n <= sites; n++) {
    const attribution = n % 2 === 0 ? random.pick(TEXTS) : null;
    const id = BigInt(n * 11);
    world.sites.set(id, { id, name: `Shop ${n}`, host: `shop${n}.example`, attribution });
  }
  for (let n = 0; n < items; n++) addItem(world);
  for (let n = 0; n < items / 2; n++) step(world);
  world.settle();
}

/** One thing happens. */
export function step(world: World): void {
  const { random } = world;
  world.tick(random.pick([1, 3, 40]));
  const item = random.pick([...world.items.values()].filter((item) => item.sight !== 'gone'));
  if (item === undefined || random.fraction() < 0.12) addItem(world);
  else if (item.removedAt === null) random.pick(EVENTS)(world, item);
  else if (random.fraction() < 0.5) relist(world, item);
}

/** The licence text of a site, or its name, is another from now on; one of its items changes in price. */
export function renameSite(world: World, round: number): void {
  const { random } = world;
  const listed = world.visibleItems().filter((item) => item.removedAt === null && world.isCopied(item));
  if (listed.length === 0) return;
  const item = random.pick(listed);
  const site = world.site(item.siteId);
  if (site.attribution !== null) site.attribution = `${site.attribution} (edition ${round})`;
  site.name = `${site.name.split(',')[0]}, since ${round}`;
  world.now += SECOND;
  record(world, item, 'CHANGED', {}, setPrice(item, (item.price ?? 0) + 1));
}

/** An item leaves the caller's data; a new one never comes to be seen by id. */
export function hideSome(world: World): void {
  const items = world.visibleItems();
  if (items.length < 10) return;
  world.random.pick(items).sight = 'gone';
  addItem(world).sight = 'hidden';
}
