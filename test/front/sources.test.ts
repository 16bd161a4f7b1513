/** Data that doesn't come from the feed: webhooks, item histories, datasets and their names, rows that can't be typed. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { viewChange } from '../sim/views.js';
import { createWriter } from '../sim/wire-json.js';
import type { Change, Item } from '../sim/world.js';
import { openStory, type Story, type StoryOptions } from './story.js';

const HISTORY = 'SELECT change_id, item_id, kind, price, title, origin FROM history ORDER BY change_id, observed_at';
const ITEMS = 'SELECT title, price, is_listed, datasets, change_id FROM items ORDER BY item_id';

async function open(options?: StoryOptions): Promise<Story> {
  const story = await openStory(options);
  onTestFinished(() => story.close());
  story.at('08:00');
  return story;
}

let events = 0;

/** Lands an event with these changes like the receiver does: its body, named by the hash of its id. */
function deliver({ world, lakePath }: Story, changes: Change[]): void {
  const id = `evt_${++events}`;
  const write = createWriter(world.habits, world.random).page;
  const body = changes.map((change) => write(viewChange(world, change))).join(',');
  const inbox = path.join(lakePath, '_pricelake', 'webhooks', 'events');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(
    path.join(inbox, createHash('sha256').update(id).digest('hex').slice(0, 40)),
    `{"id":"${id}","type":"changes","createdAt":"2026-11-20T09:00:00Z","cursor":${changes.at(-1)?.id},"changes":[${body}]}`,
  );
}

// I4 of SPEC.md
test('a webhook adds a change ahead of the feed to history, and items are updated once the feed has reached it', async () => {
  const story = await open();
  const { world } = story;
  const [pen, cup] = [story.add({ title: 'Pen' }), story.add({ title: 'Cup' })];
  await story.run();
  story.at('09:00');
  story.change(pen, { price: 1100 });
  deliver(story, world.changes.slice(-1));
  // Ten seconds after the change: the feed shows it in twenty.
  world.now += 10_000_000_000n;
  await story.sync();
  expect(await story.read(HISTORY)).toEqual([
    '2 | 2 | NEW | 10.0000 | Pen | feed',
    '3 | 3 | NEW | 10.0000 | Cup | feed',
    '4 | 2 | CHANGED | 11.0000 | Pen | webhook',
  ]);
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 10.0000 | true | ['Garden'] | ∅",
    "Cup | 10.0000 | true | ['Garden'] | ∅",
  ]);
  story.at('09:10');
  story.change(cup, { price: 500 });
  deliver(story, world.changes.slice(-2));
  await story.run();
  expect(await story.read(HISTORY)).toEqual([
    '2 | 2 | NEW | 10.0000 | Pen | feed',
    '3 | 3 | NEW | 10.0000 | Cup | feed',
    '4 | 2 | CHANGED | 11.0000 | Pen | webhook',
    '5 | 3 | CHANGED | 5.0000 | Cup | feed',
  ]);
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 11.0000 | true | ['Garden'] | 4",
    "Cup | 5.0000 | true | ['Garden'] | 5",
  ]);
});

test('a change that only a webhook reported is applied to items once the feed has passed it', async () => {
  const story = await open();
  const { world } = story;
  const [pen, cup] = ['Pen', 'Cup'].map((title) => story.add({ title })) as [Item, Item];
  await story.run();
  story.at('09:00');
  story.change(pen, { price: 1100 });
  deliver(story, world.changes.splice(-1));
  await story.run();
  expect(await story.read('SELECT price FROM items ORDER BY item_id')).toEqual(['10.0000', '10.0000']);
  story.at('09:10');
  story.change(cup, { price: 500 });
  await story.run();
  expect(await story.read('SELECT price FROM items ORDER BY item_id')).toEqual(['11.0000', '5.0000']);
});

test('an item that the feed no longer names when it is read is named by the webhook', async () => {
  const story = await open();
  const { world } = story;
  const pen = story.add({ title: 'Pen' });
  story.add({ title: 'Cup' });
  await story.run();
  story.at('09:00');
  story.change(pen, { price: 1100 });
  deliver(story, world.changes.slice(-1));
  story.alter(pen, { sight: 'gone' });
  await story.run();
  expect(await story.read(HISTORY)).toEqual([
    '2 | 2 | NEW | 10.0000 | Pen | feed',
    '3 | 3 | NEW | 10.0000 | Cup | feed',
    '4 | 2 | CHANGED | 11.0000 | Pen | feed',
  ]);
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 11.0000 | true | ['Garden'] | 4",
    "Cup | 10.0000 | true | ['Garden'] | ∅",
  ]);
});

test('item histories add the events before the first copy, and later events once', async () => {
  const story = await open({ habits: { feed: false } });
  const pen = story.add({ title: 'Pen' });
  story.at('08:30');
  story.change(pen, { price: 1100 });
  story.pipeline.source.history = 'items';
  story.at('09:00');
  await story.run();
  expect(await story.read(HISTORY)).toEqual([
    '∅ | 2 | NEW | 10.0000 | Pen | history',
    '∅ | 2 | CHANGED | 11.0000 | Pen | history',
  ]);
  story.at('12:00');
  story.change(pen, { price: 1200 });
  story.add({ title: 'Cup' });
  await story.run();
  await story.run();
  expect(await story.read(HISTORY)).toEqual([
    '∅ | 2 | NEW | 10.0000 | Pen | history',
    '∅ | 2 | CHANGED | 11.0000 | Pen | history',
    '∅ | 2 | CHANGED | 12.0000 | Pen | diff',
    '∅ | 3 | NEW | 10.0000 | Cup | diff',
  ]);
});

test('only items of the chosen datasets are copied, and a renamed dataset gets its new name in every row', async () => {
  const story = await open({ habits: { scope: 'two' } });
  const { world } = story;
  const [garden, tools] = world.datasets;
  const pen = story.add({ title: 'Pen', datasets: [garden] });
  story.add({ title: 'Saw', datasets: [tools] });
  story.add({ title: 'Rake', datasets: [garden, tools] });
  story.add({ title: 'Stone', datasets: [] });
  await story.run();
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 10.0000 | true | ['Garden'] | ∅",
    "Saw | 10.0000 | true | ['Tools'] | ∅",
    "Rake | 10.0000 | true | ['Garden', 'Tools'] | ∅",
  ]);
  story.at('09:00');
  world.datasets = ['Yard', tools];
  for (const item of world.items.values()) {
    story.alter(item, { datasets: item.datasets.map((name) => (name === garden ? 'Yard' : name)) });
  }
  story.change(pen, { price: 1100 });
  await story.run();
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 11.0000 | true | ['Yard'] | 6",
    "Saw | 10.0000 | true | ['Tools'] | ∅",
    "Rake | 10.0000 | true | ['Yard', 'Tools'] | ∅",
  ]);
  expect(await story.read('SELECT name, items, sites FROM datasets ORDER BY dataset_id')).toEqual([
    'Yard | 2 | 1',
    'Tools | 2 | 1',
  ]);
});

test("a change that can't be typed is rejected, and its item is read completely", async () => {
  const story = await open({ habits: { badRows: 'in the feed' } });
  const pen = story.add({ title: 'Pen' });
  await story.run();
  story.at('09:00');
  // Every sixth change has no kind.
  for (const price of [1100, 1200, 1300]) story.change(pen, { price });
  story.add({ title: 'Cup', price: 900 });
  const { row } = await story.run();
  expect(row).toMatchObject({ rejected: 1n, caught_up: true });
  expect(await story.read(HISTORY)).toEqual([
    '2 | 2 | NEW | 10.0000 | Pen | feed',
    '3 | 2 | CHANGED | 11.0000 | Pen | feed',
    '4 | 2 | CHANGED | 12.0000 | Pen | feed',
    '5 | 2 | CHANGED | 13.0000 | Pen | feed',
  ]);
  expect(await story.read(ITEMS)).toEqual([
    "Pen | 13.0000 | true | ['Garden'] | 5",
    "Cup | 9.0000 | true | ['Garden'] | ∅",
  ]);
  expect(await story.read('SELECT table_name, line_number, reason FROM rejects')).toEqual([
    'history | 4 | kind is missing',
  ]);
});

test("a row of an export that isn't JSON is rejected with its position, and its item is read individually", async () => {
  const story = await open({ habits: { badRows: 'in exports' } });
  for (const title of ['Pen', 'Cup', 'Bag', 'Rug']) story.add({ title });
  const { row } = await story.run();
  expect(row).toMatchObject({ rejected: 1n, caught_up: true });
  expect(await story.read('SELECT title FROM items ORDER BY item_id')).toEqual(['Pen', 'Cup', 'Bag', 'Rug']);
  expect(await story.read('SELECT table_name, line_number, left(reason, 14) FROM rejects')).toEqual([
    'items | 4 | not valid JSON',
  ]);
});

test('names of datasets that contain a separator are read completely from CSV, even if one is part of another', async () => {
  const story = await open({ habits: { format: 'csv', csvLists: '; ' } });
  const { world } = story;
  world.datasets = ['Tools', 'Tools; Garden'];
  story.add({ title: 'Pen', datasets: ['Tools'] });
  story.add({ title: 'Saw', datasets: ['Tools; Garden'] });
  story.add({ title: 'Rake', datasets: ['Tools', 'Tools; Garden'] });
  await story.run();
  expect(await story.read('SELECT title, to_json(datasets) FROM items ORDER BY item_id')).toEqual([
    'Pen | ["Tools"]',
    'Saw | ["Tools; Garden"]',
    'Rake | ["Tools","Tools; Garden"]',
  ]);
});

test('an item in the responses to several requests of a run has the time of the last one', async () => {
  const story = await open({ habits: { feed: false, stateTimes: 'kept' } });
  const { world, service } = story;
  const [pen, cup] = ['Pen', 'Cup', 'Bag'].map((title) => story.add({ title }));
  await story.run();
  story.at('12:00');
  // The poll returns the cup. Only the counts show the removal, so the website's items are read.
  story.remove(pen as Item);
  story.change(cup as Item, { price: 700 });
  story.at('13:00');
  const [begin, before] = [world.now, service.requests.length];
  const now = () => {
    const minutes = BigInt(service.requests.length - before);
    world.now = begin + minutes * 60_000_000_000n;
    return new Date(Number(world.now / 1_000_000n));
  };
  const { row } = await story.sync({ now });
  expect(row).toMatchObject({ mode: 'poll', caught_up: true, deduplicated: 3n });
  // The poll is the third request, and the website's items are the sixth.
  const times = 'SELECT title, price, t(read_at) FROM items ORDER BY item_id';
  expect(await story.read(times)).toEqual([
    'Pen | 10.0000 | 20 13:03',
    'Cup | 7.0000 | 20 13:06',
    'Bag | 10.0000 | 20 08:01',
  ]);
});

test('an item that occurs twice in an export is one row', async () => {
  const story = await open({ habits: { repeatedRows: true } });
  const [garden, tools] = story.world.datasets;
  story.add({ title: 'Pen', datasets: [garden, tools] });
  story.add({ title: 'Cup', datasets: [garden] });
  const { row } = await story.run();
  expect(row).toMatchObject({ received: 5n, deduplicated: 1n, written: 4n, rejected: 0n });
  expect(await story.read('SELECT title FROM items ORDER BY item_id')).toEqual(['Pen', 'Cup']);
});
