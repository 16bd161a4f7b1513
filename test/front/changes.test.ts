/** The effects of changes in the feed on items and history. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

const ITEMS = `SELECT title, price, previous_price, t(price_changed_at), is_listed, t(removed_at), t(last_changed_at), change_id
  FROM items ORDER BY item_id`;
const news = (after: number) => `SELECT change_id, item_id, kind, t(observed_at), price, previous_price, changes, origin
  FROM history WHERE change_id > ${after} OR change_id IS NULL ORDER BY observed_at, change_id`;

describe('a shop with changes in the feed', () => {
  let story: Story;
  let pen: Item;
  let cup: Item;
  let bag: Item;
  beforeAll(async () => {
    story = await openStory();
    story.at('08:00');
    pen = story.add({ title: 'Pen' });
    cup = story.add({ title: 'Cup', price: 500 });
    bag = story.add({ title: 'Bag', price: null });
  });
  afterAll(() => story.close());

  test('is first copied completely', async () => {
    const { row } = await story.run();
    expect(row).toMatchObject({ mode: 'snapshot', received: 6n, written: 6n, deduplicated: 0n, cursor_to: 4n });
    expect(await story.read(ITEMS)).toEqual([
      'Pen | 10.0000 | ∅ | ∅ | true | ∅ | 20 08:00 | ∅',
      'Cup | 5.0000 | ∅ | ∅ | true | ∅ | 20 08:00 | ∅',
      'Bag | ∅ | ∅ | ∅ | true | ∅ | 20 08:00 | ∅',
    ]);
    expect(await story.read(news(0))).toEqual([
      '2 | 2 | NEW | 20 08:00 | 10.0000 | ∅ | {} | feed',
      '3 | 3 | NEW | 20 08:00 | 5.0000 | ∅ | {} | feed',
      '4 | 4 | NEW | 20 08:00 | ∅ | ∅ | {} | feed',
    ]);
  });

  test('gets the price from the only change after the cursor, without requesting the item', async () => {
    story.at('09:00');
    story.change(pen, { price: 1100 });
    const { row } = await story.run();
    expect(row).toMatchObject({ mode: 'feed', received: 1n, written: 1n, cursor_from: 4n, cursor_to: 5n });
    expect(story.service.requests.filter((request) => request.startsWith('/items/'))).toEqual([]);
    expect(await story.read(ITEMS)).toEqual([
      'Pen | 11.0000 | 10.0000 | 20 09:00 | true | ∅ | 20 09:00 | 5',
      'Cup | 5.0000 | ∅ | ∅ | true | ∅ | 20 08:00 | ∅',
      'Bag | ∅ | ∅ | ∅ | true | ∅ | 20 08:00 | ∅',
    ]);
  });

  test('writes nothing in a run without changes, whose ledger row is written by the next run', async () => {
    story.at('09:30');
    expect(await story.run()).toMatchObject({ published: false, row: { run_number: 3n, received: 0n } });
    expect(await story.read('SELECT run_number FROM runs ORDER BY ALL')).toEqual(['1', '2']);
  });

  test('gets the last of several prices, a removal, a new title and a new listing', async () => {
    story.at('10:00');
    story.change(pen, { price: 1200 });
    story.change(pen, { price: 1300 });
    story.remove(cup);
    story.change(bag, { title: 'Sack', price: 300 });
    story.add({ title: 'Rug', siteId: 22n });
    await story.run();
    expect(await story.read(ITEMS)).toEqual([
      'Pen | 13.0000 | 12.0000 | 20 10:00 | true | ∅ | 20 10:00 | 7',
      'Cup | 5.0000 | ∅ | ∅ | false | 20 10:00 | 20 10:00 | 8',
      'Sack | 3.0000 | ∅ | 20 10:00 | true | ∅ | 20 10:00 | 9',
      'Rug | 10.0000 | ∅ | ∅ | true | ∅ | 20 10:00 | 10',
    ]);
    expect(await story.read(news(5))).toEqual([
      '6 | 2 | CHANGED | 20 10:00 | 12.0000 | 11.0000 | {"price":[11,12]} | feed',
      '7 | 2 | CHANGED | 20 10:00 | 13.0000 | 12.0000 | {"price":[12,13]} | feed',
      '8 | 3 | REMOVED | 20 10:00 | ∅ | ∅ | {} | feed',
      '9 | 4 | CHANGED | 20 10:00 | 3.0000 | ∅ | {"title":["Bag","Sack"],"price":[null,3]} | feed',
      '10 | 5 | NEW | 20 10:00 | 10.0000 | ∅ | {} | feed',
    ]);
    expect(await story.read('SELECT run_number FROM runs ORDER BY ALL')).toEqual(['1', '2', '3', '4']);
  });

  test('gets a relisting at another price, and an item that was removed and relisted in between', async () => {
    story.at('11:00');
    story.relist(cup, { price: 450 });
    story.remove(bag);
    story.at('11:10');
    story.relist(bag);
    story.change(pen, { price: null });
    await story.run();
    expect(await story.read(ITEMS)).toEqual([
      'Pen | ∅ | 13.0000 | 20 11:10 | true | ∅ | 20 11:10 | 14',
      'Cup | 4.5000 | 5.0000 | 20 11:00 | true | ∅ | 20 11:00 | 11',
      'Sack | 3.0000 | ∅ | 20 10:00 | true | ∅ | 20 11:10 | 13',
      'Rug | 10.0000 | ∅ | ∅ | true | ∅ | 20 10:00 | 10',
    ]);
    expect(await story.read(news(10))).toEqual([
      '11 | 3 | RELISTED | 20 11:00 | 4.5000 | 5.0000 | {"price":[5,4.5]} | feed',
      '12 | 4 | REMOVED | 20 11:00 | ∅ | ∅ | {} | feed',
      '13 | 4 | RELISTED | 20 11:10 | 3.0000 | ∅ | {} | feed',
      '14 | 2 | CHANGED | 20 11:10 | ∅ | 13.0000 | {"price":[13,null]} | feed',
    ]);
  });

  test('keeps every value of an item that moves to another website and gets new codes and descriptions', async () => {
    story.at('12:00');
    story.change(pen, { siteId: 22n, modelId: 222n, sourceName: 'list two' });
    story.change(pen, { brand: 'Acme', mpn: 'P-1', gtin: '4006381333931', image: 'https://shop.example/pen.jpg' });
    story.change(pen, { attributes: { stock: 3 }, currency: 'CZK', url: 'https://shop.example/pen' });
    story.change(pen, { category: { name: 'Pens', path: 'Office > Pens', slug: 'pens', source: 'MANUAL' } });
    await story.run();
    const columns = `title, brand, mpn, gtin14, product_id, price, currency, url, image, attributes, category_path,
      category_slug, category_source, site_id, site_name, site_host, source_id, source_name, change_id`;
    expect(await story.read(`SELECT ${columns} FROM items WHERE item_id = ${pen.id}`)).toEqual([
      'Pen | Acme | P-1 | 04006381333931 | 4006381333931 | ∅ | CZK | https://shop.example/pen | https://shop.example/pen.jpg | {"stock":3} | Office > Pens | pens | MANUAL | 22 | Museum | shop2.example | 222 | list two | 18',
    ]);
  });

  test('loses an item that is gone, and gets the new name of a website', async () => {
    story.at('13:00');
    story.alter(cup, { sight: 'gone' });
    story.world.site(22n).name = 'Gallery';
    story.world.keepSite(story.world.site(22n));
    story.change(pen, { price: 900 });
    story.pipeline.source.mode = 'snapshot';
    const { row } = await story.run();
    expect(row).toMatchObject({ mode: 'snapshot', gone: 1n, differences: 0n });
    expect(await story.read('SELECT title, site_name, is_listed, t(gone_at) FROM items ORDER BY item_id')).toEqual([
      'Pen | Gallery | true | ∅',
      'Cup | Kiosk | false | 20 13:01',
      'Sack | Kiosk | true | ∅',
      'Rug | Gallery | true | ∅',
    ]);
    const sites = 'SELECT site_id, name, attribution, t(valid_from), t(valid_to), is_current FROM sites ORDER BY ALL';
    expect(await story.read(sites)).toEqual([
      '11 | Kiosk | ∅ | 20 08:01 | ∅ | true',
      '22 | Gallery | CC BY 4.0 | 20 13:01 | ∅ | true',
      '22 | Museum | CC BY 4.0 | 20 10:01 | 20 13:01 | false',
    ]);
  });
});

test("a change whose item can't be read by its id is added to history, but not to items", async () => {
  const story = await openStory();
  story.at('08:00');
  story.add();
  await story.run();
  story.at('09:00');
  const hidden = story.add({ title: 'Hidden', sight: 'hidden' });
  const { row } = await story.run();
  expect(row).toMatchObject({ mode: 'feed' });
  expect(await story.read('SELECT title FROM items')).toEqual(['Pen']);
  expect(await story.read(`SELECT kind, title FROM history WHERE item_id = ${hidden.id}`)).toEqual(['NEW | Hidden']);
  await story.close();
});
