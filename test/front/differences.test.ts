/** Differences between the lake and the service that no change reports: how they are found, recorded and repaired. */
import { expect, onTestFinished, test } from 'vitest';
import type { Item } from '../sim/world.js';
import { openStory, type Story, type StoryOptions } from './story.js';

const ITEMS = 'SELECT title, price, previous_price, is_listed, t(removed_at), t(gone_at) FROM items ORDER BY item_id';
const DIFFS = `SELECT item_id, kind, t(observed_at), price, previous_price, changes FROM history
  WHERE origin = 'diff' ORDER BY item_id, kind`;
const FOUND = `SELECT mode, differences, difference_columns, missed, gone, sample_mismatches, sample_differences,
  product_differences, facets_different, facet_differences FROM runs ORDER BY run_number DESC LIMIT 1`;

/** A copy of three items, made at 08:00. */
async function openCopied(options: StoryOptions = {}): Promise<Story & { pen: Item; cup: Item; bag: Item }> {
  const story = await openStory(options);
  onTestFinished(() => story.close());
  story.at('07:00');
  const [pen, cup, bag] = ['Pen', 'Cup', 'Bag'].map((title, n) =>
    story.add({ title, siteId: BigInt(11 * (n + 1)), gtin: n < 2 ? '4006381333931' : null }),
  ) as [Item, Item, Item];
  story.at('08:00');
  await story.run();
  return Object.assign(story, { pen, cup, bag });
}

test('a complete copy adds unreported differences to history, and marks missing items as gone', async () => {
  const story = await openCopied();
  story.at('09:00');
  const { pen, cup, bag } = story;
  const lastChangedAt = story.world.stamp();
  story.alter(pen, {
    title: 'Pencil',
    price: 800,
    previousPrice: 1000,
    priceChangedAt: lastChangedAt,
    lastChangedAt,
  });
  story.alter(cup, { removedAt: lastChangedAt, lastChangedAt });
  story.alter(bag, { sight: 'gone' });
  story.at('10:00');
  story.add({ title: 'Rug' });
  story.pipeline.source.mode = 'snapshot';
  await story.run();
  expect(await story.read(ITEMS)).toEqual([
    'Pencil | 8.0000 | 10.0000 | true | ∅ | ∅',
    'Cup | 10.0000 | ∅ | false | 20 09:00 | ∅',
    'Bag | 10.0000 | ∅ | false | ∅ | 20 10:01',
    'Rug | 10.0000 | ∅ | true | ∅ | ∅',
  ]);
  expect(await story.read(DIFFS)).toEqual([
    '2 | CHANGED | 20 09:00 | 8.0000 | 10.0000 | {"title":["Pen","Pencil"],"price":[10.0000,8.0000]}',
    '3 | REMOVED | 20 09:00 | 10.0000 | ∅ | {}',
  ]);
  expect(await story.read(FOUND)).toEqual([
    'snapshot | 2 | {"lastChangedAt":2,"previousPrice":1,"price":1,"priceChangedAt":1,"removedAt":1,"title":1} | 0 | 1 | 0 | [] | [] | 0 | []',
  ]);

  // A gone item isn't requested again.
  story.pipeline.source.mode = 'auto';
  story.pipeline.proof.sample = 100;
  story.at('11:00');
  story.change(pen, { price: 850 });
  story.service.requests.length = 0;
  await story.run();
  expect(story.service.requests.filter((request) => /^\/items\/\d/.test(request)).sort()).toEqual([
    '/items/2',
    '/items/3',
    '/items/5',
  ]);
});

test('a sample of items records the values that differ from the lake, and leaves the lake unchanged', async () => {
  const story = await openCopied();
  const { pen, cup } = story;
  story.pipeline.proof.sample = 100;
  story.at('09:00');
  story.alter(pen, { title: 'Pencil', brand: 'Acme' });
  story.change(cup, { price: 700 });
  await story.run();
  expect(await story.read(FOUND)).toEqual([
    'feed | 0 | {} | 0 | 0 | 1 | [{"item_id":2,"differences":["title","brand"]}] | [] | 0 | []',
  ]);
  expect(await story.read(ITEMS)).toEqual([
    'Pen | 10.0000 | ∅ | true | ∅ | ∅',
    'Cup | 7.0000 | 10.0000 | true | ∅ | ∅',
    'Bag | 10.0000 | ∅ | true | ∅ | ∅',
  ]);
});

test("counts and products of the service that lag behind its items are recorded with the lake's counts", async () => {
  const story = await openCopied({ habits: { lagFacets: 600, lagProducts: 600 } });
  const { cup } = story;
  story.at('09:00');
  story.change(cup, { price: 700 });
  for (const title of ['Rug', 'Mat']) story.add({ title });
  story.pipeline.source.mode = 'snapshot';
  await story.run();
  expect(await story.read(FOUND)).toEqual([
    'snapshot | 0 | {} | 0 | 0 | 0 | [] | [{"product":"4006381333931","differences":["prices"]}] | 2 | [{"facet":"currency","id":"EUR","name":"EUR","service":3,"lake":5},{"facet":"site","id":"11","name":"Kiosk","service":1,"lake":3}]',
  ]);
});

test('an item whose read lags behind its change waits in stale_items until a later run reads it', async () => {
  const story = await openCopied({ habits: { lagSingle: 600, lagItems: 600 } });
  const { pen, cup } = story;
  story.at('09:00');
  story.change(pen, { attributes: { stock: 5 } });
  story.change(cup, { price: 700 });
  expect((await story.run()).row).toMatchObject({ caught_up: false, stale_items: 1n });
  const stale = 'SELECT item_id, reason, change_id, t(observed_at), t(first_read_at) FROM stale_items';
  const values = 'SELECT title, price, attributes FROM items ORDER BY item_id';
  expect(await story.read(stale)).toEqual(['2 | a change is not shown | 5 | 20 09:00 | 20 09:01']);
  expect(await story.read(values)).toEqual(['Pen | 10.0000 | {}', 'Cup | 7.0000 | {}', 'Bag | 10.0000 | {}']);
  story.at('09:30');
  expect((await story.run()).row).toMatchObject({ caught_up: true, stale_items: 0n });
  expect(await story.read(stale)).toEqual([]);
  expect(await story.read(values)).toEqual(['Pen | 10.0000 | {"stock":5}', 'Cup | 7.0000 | {}', 'Bag | 10.0000 | {}']);
});

test('without the feed, counts reveal a removal that changedSince omits; with the feed later, each event is in history once', async () => {
  const story = await openCopied({ habits: { feed: false, stateTimes: 'kept' } });
  const { pen, cup } = story;
  story.at('12:00');
  story.remove(pen);
  story.change(cup, { price: 700 });
  const { row } = await story.run();
  expect(row).toMatchObject({ mode: 'poll', caught_up: true, listing_unknown: 0n });
  expect(await story.read(ITEMS)).toEqual([
    'Pen | 10.0000 | ∅ | false | 20 12:00 | ∅',
    'Cup | 7.0000 | 10.0000 | true | ∅ | ∅',
    'Bag | 10.0000 | ∅ | true | ∅ | ∅',
  ]);
  expect(await story.read(DIFFS)).toEqual([
    '2 | REMOVED | 20 12:00 | 10.0000 | ∅ | {}',
    '3 | CHANGED | 20 12:00 | 7.0000 | 10.0000 | {"price":[10.0000,7.0000]}',
  ]);

  story.world.habits.feed = true;
  story.at('13:00');
  story.change(story.bag, { price: 900 });
  story.pipeline.source.history = 'feed';
  await story.run();
  expect(
    await story.read('SELECT change_id, item_id, kind, price, origin FROM history ORDER BY change_id, item_id'),
  ).toEqual([
    '2 | 2 | NEW | 10.0000 | feed',
    '3 | 3 | NEW | 10.0000 | feed',
    '4 | 4 | NEW | 10.0000 | feed',
    '5 | 2 | REMOVED | ∅ | feed',
    '6 | 3 | CHANGED | 7.0000 | feed',
    '7 | 4 | CHANGED | 9.0000 | feed',
  ]);
});
