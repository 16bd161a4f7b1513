import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/sql/model.js';
import { at, change, fullItem, openModels, type Row, shown, type Texts } from './model-world.js';

const { bind, graph, readTexts } = await openModels();

/** The history rows for the differences between complete rows and the lake, with all columns as texts. */
function diff(exported: Row[], lake: Row[], history: Row[] = []): Promise<Texts[]> {
  const rows = { exported_items: graph.load('exported', 'items', exported), items: graph.load('items', 'items', lake) };
  const mismatched_items = bind('compare', rows, { feed_skew: null });
  return readTexts(bind('diff', { ...rows, history, mismatched_items }, {}));
}

/** The event for one item that the lake contains, or undefined. */
async function event(values: Row, before: Row = {}): Promise<Texts | undefined> {
  const rows = await diff([fullItem(values)], [fullItem(before)]);
  expect(rows.length).toBeLessThan(2);
  return rows[0];
}

const changed = { last_changed_at: at(7) };
const row = {
  change_id: null,
  item_id: '1',
  kind: 'CHANGED',
  observed_at: shown(7),
  observed_date: '2026-11-20',
  price: '10.0000',
  previous_price: null,
  currency: 'EUR',
  title: 'A',
  url: 'u',
  site_id: '7',
  origin: 'diff',
  run_id: 'this run',
};

describe('an item that differs in one value creates one event with that value', () => {
  test.each<[string, Row, string, Record<string, string>]>([
    ['title', { title: 'B "b"' }, '{"title":["A","B \\"b\\""]}', { title: 'B "b"' }],
    ['a removed title', { title: null }, '{"title":["A",null]}', { title: null as unknown as string }],
    ['brand', { brand: 'B' }, '{"brand":["Acme","B"]}', {}],
    ['part number', { mpn: 'B' }, '{"mpn":["M-1","B"]}', {}],
    ['GTIN', { gtin: '96385074' }, '{"gtin":["4006381333931","96385074"]}', {}],
    ['currency', { currency: 'CHF' }, '{"currency":["EUR","CHF"]}', { currency: 'CHF' }],
    ['address', { url: 'v' }, '{"url":["u","v"]}', { url: 'v' }],
    ['image', { image: null }, '{"image":["i",null]}', {}],
    ['attributes', { attributes: '{"stock":2}' }, '{"attributes":[{"stock":1,"color":"red"},{"stock":2}]}', {}],
    ['removed attributes', { attributes: null }, '{"attributes":[{"stock":1,"color":"red"},null]}', {}],
    ['category', { category_path: 'Ink' }, '{"category":["Office > Pens","Ink"]}', {}],
    ['website', { site_id: 8 }, '{"site":[7,8]}', { site_id: '8' }],
  ])('%s', async (_name, values, changes, columns) => {
    expect(await event({ ...values, ...changed })).toEqual({ ...row, ...columns, changes });
  });

  test('first attributes', async () => {
    const first = await event({ ...changed, attributes: '{"stock":2}' }, { attributes: null });
    expect(first?.changes).toBe('{"attributes":[null,{"stock":2}]}');
  });

  test('a price, dated by price_changed_at, with the previous price', async () => {
    const values = { ...changed, price: '12345678901234.5678', previous_price: 10, price_changed_at: at(6) };
    expect(await event(values)).toEqual({
      ...row,
      observed_at: shown(6),
      price: '12345678901234.5678',
      previous_price: '10.0000',
      changes: '{"price":[10.0000,12345678901234.5678]}',
    });
  });

  test('a removed price, and the first price', async () => {
    expect(await event({ ...changed, price: null })).toMatchObject({
      price: null,
      previous_price: '10.0000',
      changes: '{"price":[10.0000,null]}',
    });
    expect(await event({ ...changed, price: 12 }, { price: null })).toMatchObject({
      price: '12.0000',
      previous_price: null,
      changes: '{"price":[null,12.0000]}',
    });
  });

  test('several values are in one event', async () => {
    expect(await event({ ...changed, title: 'B', brand: 'B', price: 12, price_changed_at: at(6) })).toMatchObject({
      title: 'B',
      changes: '{"title":["A","B"],"brand":["Acme","B"],"price":[10.0000,12.0000]}',
    });
  });
});

describe('no event is created for', () => {
  test.each<[string, Row, Row]>([
    ['equal rows', {}, {}],
    ['a change of datasets', { datasets: '[c]' }, {}],
    ['an item that is no longer gone', {}, { gone_at: at(6) }],
    ['a later lastChangedAt', { last_changed_at: at(6) }, {}],
    ['another previous price', { previous_price: 8 }, {}],
    ['another time of the price change', { price_changed_at: at(3) }, {}],
    ['another firstSeenAt', { first_seen_at: at(2) }, {}],
    ['another source', { source_id: 4 }, {}],
    [
      'all of these differences together',
      { datasets: '[c]', last_changed_at: at(6), previous_price: 8, source_id: 4 },
      {},
    ],
  ])('%s', async (_name, values, before) => {
    expect(await event(values, before)).toBeUndefined();
  });

  test('an event that history contains: the same kind for the same item at the same time', async () => {
    const known = change({ observed_at: at(7), kind: 'CHANGED' });
    const told = async (values: Row) =>
      (await diff([fullItem({ ...changed, brand: 'B' })], [fullItem({})], [{ ...known, ...values }])).length;
    expect(await told({})).toBe(0);
    expect(await told({ item_id: 2 })).toBe(1);
    expect(await told({ observed_at: at(6) })).toBe(1);
    expect(await told({ kind: 'REMOVED' })).toBe(1);
  });
});

test("another previous price isn't reported with a value that changed", async () => {
  const other = await event({ ...changed, brand: 'B', previous_price: 8 });
  expect(other).toEqual({ ...row, changes: '{"brand":["Acme","B"]}' });
});

describe('a listing', () => {
  const removed = { removed_at: at(5), is_listed: false, last_seen_at: at(3) };

  test('that the lake lacks is NEW, dated by first_seen_at', async () => {
    const rows = await diff([fullItem({})], []);
    expect(rows).toEqual([{ ...row, kind: 'NEW', observed_at: shown(1), changes: '{}' }]);
  });

  test('that the lake lacks and that is already removed creates two events, NEW and REMOVED', async () => {
    const rows = await diff([fullItem({ ...removed, removed_at: at(6) })], []);
    const both = { ...row, changes: '{}' };
    expect(rows).toEqual([
      { ...both, kind: 'NEW', observed_at: shown(1) },
      { ...both, kind: 'REMOVED', observed_at: shown(6) },
    ]);
  });

  test('that was removed when it was first seen creates one event', async () => {
    const rows = await diff([fullItem({ ...removed, removed_at: at(1) })], []);
    expect(rows).toMatchObject([{ kind: 'NEW' }]);
  });

  test('that was removed is REMOVED, dated by removed_at', async () => {
    expect(await event({ removed_at: at(6) })).toEqual({
      ...row,
      kind: 'REMOVED',
      observed_at: shown(6),
      changes: '{}',
    });
  });

  test('that was removed with another price creates one REMOVED event with both prices', async () => {
    expect(await event({ removed_at: at(6), price: 12 })).toMatchObject({
      kind: 'REMOVED',
      observed_at: shown(6),
      price: '12.0000',
      previous_price: '10.0000',
      changes: '{"price":[10.0000,12.0000]}',
    });
  });

  test.each<[string, Row, number]>([
    ['when it changed since', { last_changed_at: at(6), price_changed_at: at(7), last_seen_at: at(8) }, 6],
    ['when its price changed since', { price_changed_at: at(7), last_seen_at: at(8) }, 7],
    ['when it was seen since', { last_seen_at: at(8) }, 8],
    ['when it was read, if no other time is later than the removal', { last_seen_at: null, read_at: at(9) }, 9],
  ])('that came back is RELISTED, as of %s', async (_name, values, hour) => {
    expect(await event(values, removed)).toEqual({ ...row, kind: 'RELISTED', observed_at: shown(hour), changes: '{}' });
  });

  test("that came back isn't dated by times equal to the removal", async () => {
    const values = { last_changed_at: at(5), price_changed_at: at(5), last_seen_at: at(5), read_at: at(9) };
    expect(await event(values, removed)).toMatchObject({ kind: 'RELISTED', observed_at: shown(9) });
  });

  test('that stays removed but differs is CHANGED', async () => {
    expect(await event({ ...removed, ...changed, brand: 'B' }, removed)).toMatchObject({ kind: 'CHANGED' });
    const later = { ...removed, removed_at: at(8) };
    expect(await event({ ...later, ...changed, brand: 'B' }, later)).toMatchObject({ observed_at: shown(7) });
  });
});

describe('an event without a time of its own is dated', () => {
  test.each<[string, Row, Row | undefined, number]>([
    ['by lastChangedAt, even if the price changed before', { ...changed, brand: 'B', price_changed_at: at(6) }, {}, 7],
    ['by lastChangedAt, if the price has no time', { ...changed, price: 12, price_changed_at: null }, {}, 7],
    ['by lastChangedAt, if a new item has no firstSeenAt', { ...changed, first_seen_at: null }, undefined, 7],
    ['by when the row was read, if it has no other time', { brand: 'B', last_changed_at: null, read_at: at(9) }, {}, 9],
  ])('%s', async (_name, values, before, hour) => {
    const rows = await diff([fullItem(values)], before === undefined ? [] : [fullItem(before)]);
    expect(rows).toMatchObject([{ observed_at: shown(hour) }]);
  });

  test('by the day in UTC', async () => {
    const late = { brand: 'B', last_changed_at: '2026-11-20T23:30:00-02:00' };
    expect(await event(late)).toMatchObject({ observed_date: '2026-11-21' });
  });
});

test('every difference of compare.sql is handled by diff.sql, or listed there as not reported', () => {
  const names = [...readModel('compare').matchAll(/THEN '(\w+)' END/g)].map(([, name]) => name as string);
  expect(names).toContain('removedAt');
  expect(names.filter((name) => !readModel('diff').includes(`'${name}'`))).toEqual([]);
});

test('each item gets its own event', async () => {
  const exported = [fullItem({ ...changed, brand: 'B' }), fullItem({ item_id: 2, ...changed, brand: 'C' })];
  const rows = await diff(exported, [fullItem({}), fullItem({ item_id: 2 })]);
  expect(rows.map(({ item_id, changes }) => [item_id, changes])).toEqual([
    ['1', '{"brand":["Acme","B"]}'],
    ['2', '{"brand":["Acme","C"]}'],
  ]);
});
