import { beforeEach, describe, expect, test } from 'vitest';
import { loadFacets } from '../../src/run/land/facets.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { readModel } from '../../src/sql/model.js';
import { readListingItems } from '../../src/wings/listing/listing-states.js';
import { at, change, fullItem, named, openModels, type Row } from '../apply/model-world.js';
import { loadRows } from '../load-rows.js';

const { db } = await openModels();
await db.run('SET VARIABLE feed_skew = INTERVAL 2 MINUTE');

const minute = (text: string) => `2026-11-20T${text}Z`;

/** The rows of a query, as parsed JSON. */
async function readJson(query: string): Promise<Record<string, unknown>[]> {
  const rows = await db.rows(`SELECT CAST(to_json(r) AS VARCHAR) AS text FROM (${query}) AS r ORDER BY text`);
  return rows.map(({ text }) => JSON.parse(String(text)));
}

describe('a sampled item', () => {
  interface Sample {
    read?: Row;
    lake?: Row;
    history?: Row[];
    stale?: boolean;
    cursor?: bigint | null;
    watermark?: string;
    isMissing?: boolean;
  }

  /** The reported differences of an item whose brand differs from the lake's, or undefined if it isn't judged. */
  async function judge({ read, lake, history, stale, cursor = null, watermark, isMissing }: Sample) {
    await loadRows(db, 'exported_items', 'items', isMissing ? [] : [fullItem({ brand: 'B', ...read })]);
    await loadRows(db, 'items', 'items', [fullItem({ ...lake })]);
    await loadRows(db, 'history', 'history', history ?? []);
    await loadRows(db, 'stale_items', 'stale_items', stale ? [{ item_id: 1 }] : []);
    await db.run(`CREATE OR REPLACE TABLE missing_sample AS SELECT 1::BIGINT AS item_id WHERE ${isMissing === true}`);
    await db.run('SET VARIABLE sample_watermark = $1', [watermark ?? null]);
    await db.run('SET VARIABLE feed_cursor = $1::BIGINT', [cursor]);
    await db.run(`CREATE OR REPLACE VIEW compared_items AS ${readModel('compare')}`);
    const [row] = await readJson(readModel('judged_sample'));
    return row?.differences;
  }

  const feed = (time: string, row: Row = {}) => change({ item_id: 2, origin: 'feed', observed_at: time, ...row });
  const JUDGED = ['brand'];

  test.each<[string, Sample, string[] | undefined]>([
    ['is judged if nothing shows how current the lake is', {}, JUDGED],
    ["that equals the lake's row has no differences", { read: { brand: 'Acme' } }, []],
    ['is judged if the feed is a minute past its change', { history: [feed(minute('05:01:00'))] }, JUDGED],
    [
      "isn't judged if the feed is less than a minute past its change",
      { history: [feed(minute('05:00:59'))] },
      undefined,
    ],
    ['is judged by the newest change', { history: [feed(at(9)), feed(at(3))] }, JUDGED],
    [
      "isn't judged by a change from a comparison",
      { history: [feed(at(9), { origin: 'diff' }), feed(at(3))] },
      undefined,
    ],
    [
      'is judged by changes up to the cursor',
      { history: [feed(at(9), { change_id: 200 }), feed(at(3))], cursor: 200n },
      JUDGED,
    ],
    [
      "isn't judged by changes ahead of the cursor",
      { history: [feed(at(9), { change_id: 201 }), feed(at(3))], cursor: 200n },
      undefined,
    ],
    ["isn't judged if the watermark is too old and there is no feed", { watermark: minute('05:00:59') }, undefined],
    ['is judged by the feed rather than the watermark', { history: [feed(at(9))], watermark: at(3) }, JUDGED],
    [
      "isn't judged if its removal is newer than the feed",
      { read: { removed_at: at(8) }, history: [feed(at(7))] },
      undefined,
    ],
    [
      "isn't judged if it came back after the newest change",
      { read: { last_seen_at: at(8) }, lake: { removed_at: at(5) }, history: [feed(at(7))] },
      undefined,
    ],
    [
      'is judged if it came back before the newest change',
      { read: { last_seen_at: minute('06:59:00') }, lake: { removed_at: at(5) }, history: [feed(at(7))] },
      ['brand', 'removedAt'],
    ],
    [
      'is judged if it came back and nothing shows how current the lake is',
      { read: { last_seen_at: at(8) }, lake: { removed_at: at(5) } },
      ['brand', 'removedAt'],
    ],
    ["isn't judged if its read lags behind the lake", { read: { last_changed_at: at(4) } }, undefined],
    [
      "is judged if its read lags by less than the feed's delay",
      { read: { last_changed_at: minute('04:58:00') } },
      ['brand', 'lastChangedAt'],
    ],
    [
      "isn't judged despite a small lag if its price differs",
      { read: { last_changed_at: minute('04:58:00'), price: 11 } },
      undefined,
    ],
    [
      "isn't judged despite a small lag if its title differs",
      { read: { last_changed_at: minute('04:58:00'), title: 'B' } },
      undefined,
    ],
    ["isn't judged if it is in stale_items", { stale: true }, undefined],
  ])('%s', async (_name, world, expected) => {
    expect(await judge(world)).toEqual(expected);
  });

  test.each<[string, Sample, string[] | undefined]>([
    ['is missing', {}, ['missing']],
    ['is missing an hour after it was first seen', { watermark: minute('02:01:00') }, ['missing']],
    ["isn't judged if it may be too new", { watermark: minute('02:00:59') }, undefined],
    ["isn't judged if it is in stale_items", { stale: true }, undefined],
  ])("that the service doesn't return %s", async (_name, world, expected) => {
    expect(await judge({ ...world, isMissing: true })).toEqual(expected);
  });
});

describe('the listing states of items', () => {
  interface Listing {
    lake?: Row[];
    read?: Row[];
    told?: Row[];
    gone?: bigint[];
    datasets?: string[];
  }

  const READ: Record<string, string> = { true: ', read', false: '' };

  async function list({ lake, read, told, gone, datasets }: Listing): Promise<string[]> {
    await loadRows(db, 'items', 'items', (lake ?? []).map(fullItem));
    await loadRows(db, 'exported_items', 'items', (read ?? []).map(fullItem));
    await loadRows(db, 'pending_changes', 'history', (told ?? []).map(change));
    const sources = {
      items: named('items'),
      exported_items: named('exported_items'),
      pending_changes: named('pending_changes'),
    };
    const listing = await readListingItems(new RelationGraph(db), sources, datasets, gone ?? []);
    await listing.made;
    await db.run(`CREATE OR REPLACE VIEW listing_items AS FROM "${listing.name}"`);
    const rows = await readJson('FROM listing_items');
    return rows.map(
      (row) => `${row.item_id} of ${row.site_id} ${row.is_listed ? 'listed' : 'removed'}${READ[String(row.is_read)]}`,
    );
  }

  test.each<[string, Listing, string[]]>([
    ['are those in the lake', { lake: [{}, { item_id: 2, is_listed: false }] }, ['1 of 7 listed', '2 of 7 removed']],
    [
      "are those of this run's rows instead of the lake’s",
      { lake: [{}], read: [{ is_listed: false }] },
      ['1 of 7 removed, read'],
    ],
    ['are removed after a removal', { lake: [{}], told: [{ kind: 'REMOVED' }] }, ['1 of 7 removed']],
    ['are listed after a relisting', { lake: [{ is_listed: false }], told: [{ kind: 'RELISTED' }] }, ['1 of 7 listed']],
    [
      "are those of this run's rows, despite a change",
      { read: [{}], told: [{ kind: 'REMOVED' }] },
      ['1 of 7 listed, read'],
    ],
    ["don't change with a change of another kind", { lake: [{ is_listed: false }], told: [{}] }, ['1 of 7 removed']],
    [
      'are those of the last change',
      {
        told: [
          { kind: 'NEW', site_id: 8 },
          { kind: 'REMOVED', change_id: 102 },
        ],
      },
      ['1 of 7 removed'],
    ],
    [
      "have the row's website, and not the change's",
      { lake: [{}], told: [{ kind: 'NEW', site_id: 8 }] },
      ['1 of 7 listed'],
    ],
    ["don't include a change without an item", { told: [{ kind: 'NEW', item_id: null }] }, []],
    [
      "don't include items that the service no longer returns",
      { lake: [{}, { item_id: 2 }], gone: [1n] },
      ['2 of 7 listed'],
    ],
    ["don't include gone items", { lake: [{ gone_at: at(6) }] }, []],
    [
      'include gone items that a change reports',
      { lake: [{ gone_at: at(6) }], told: [{ kind: 'NEW' }] },
      ['1 of 7 listed'],
    ],
    [
      'only include items in the selected datasets',
      { lake: [{}, { item_id: 2, datasets: '[c]' }], datasets: ['b', 'x'] },
      ['1 of 7 listed'],
    ],
  ])('%s', async (_name, world, expected) => {
    expect(await list(world)).toEqual(expected);
  });

  /** Returns `returned`, `hiding` and `moving` for an item that was removed at eight. */
  async function weigh(row: Row, since: string | null, isRead: boolean): Promise<Record<string, unknown>> {
    const removed = { is_listed: false, removed_at: at(8), change_id: null, last_seen_at: at(5), ...row };
    await list(isRead ? { read: [removed] } : { lake: [removed] });
    await db.run('SET VARIABLE polled_since = $1', [since]);
    const [evidence = {}] = await readJson(readModel('listing_evidence'));
    return Object.fromEntries(Object.entries(evidence).filter(([, count]) => count !== 0));
  }

  test.each<[string, Row, string | null, boolean, Record<string, number>]>([
    ['hides behind an older time of change', { last_changed_at: minute('07:58:59') }, null, false, { hiding: 1 }],
    ['a minute after the time of change may be either', { last_changed_at: minute('07:59:00') }, null, false, {}],
    [
      'a second after the time of change changed that time',
      { last_changed_at: minute('07:59:59') },
      null,
      false,
      { moving: 1 },
    ],
    [
      "more than a second after the time of change didn't change that time",
      { last_changed_at: minute('07:59:58') },
      null,
      false,
      {},
    ],
    [
      'a minute before the time of change changed that time',
      { last_changed_at: minute('08:01:00') },
      null,
      false,
      { moving: 1 },
    ],
    [
      "more than a minute before the time of change didn't change that time",
      { last_changed_at: minute('08:01:01') },
      null,
      false,
      {},
    ],
    [
      'in whose hour a scrape saw the item may be either',
      { last_changed_at: at(8), last_seen_at: at(7) },
      null,
      false,
      {},
    ],
    ['that a change reported shows nothing', { last_changed_at: at(8), change_id: 5 }, null, false, {}],
    [
      'of a read item shows that it changed the time, regardless of changes',
      { last_changed_at: at(8), change_id: 5 },
      null,
      true,
      { moving: 1 },
    ],
    ["without its time isn't a removal", { removed_at: null, last_changed_at: at(8) }, null, true, {}],
    [
      "is returned by a poll since the item's last change",
      { last_changed_at: at(5) },
      at(5),
      true,
      { hiding: 1, returned: 1 },
    ],
    ["isn't returned if the item changed since", { last_changed_at: minute('05:00:01') }, at(5), true, { hiding: 1 }],
    ["isn't returned if the item wasn't read", { last_changed_at: at(5) }, at(5), false, { hiding: 1 }],
    ["before a poll's start isn't returned by it", { last_changed_at: at(5) }, at(8), true, { hiding: 1 }],
  ])('a removal %s', async (_name, row, since, isRead, expected) => {
    expect(await weigh(row, since, isRead)).toEqual(expected);
  });
});

describe('counts of the service compared with those of the lake', () => {
  const CATEGORIES = [
    { id: '1', name: 'Office', slug: 'office', parentId: null, items: 3 },
    { id: '2', name: 'Pens', slug: 'pens', parentId: '1', items: 2 },
    // A cycle.
    { id: '8', name: 'A', slug: 'a', parentId: '9', items: 0 },
    { id: '9', name: 'B', slug: 'b', parentId: '8', items: 0 },
  ];

  async function count(lake: Row[], answer: object, readable: string[] | null = null): Promise<string[]> {
    await loadRows(db, 'counted_items', 'items', lake.map(fullItem));
    const facets = loadFacets(new RelationGraph(db), JSON.stringify(answer));
    await facets.made;
    await db.run(`CREATE OR REPLACE VIEW landed_facets AS FROM "${facets.name}"`);
    await db.run(`SET VARIABLE readable_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(readable)]);
    const rows = await readJson(readModel('compare_facets'));
    return rows.map((row) => `${row.facet} ${row.id} ${row.name}: ${row.service} ${row.lake}`);
  }

  beforeEach(async () => expect(await count([], {})).toEqual([]));

  test('are compared by website, currency, and category with its parents', async () => {
    const lake = [{}, { item_id: 2, category_slug: 'office' }, { item_id: 3, category_slug: 'a', is_listed: false }];
    const answer = {
      sites: [{ id: 7, name: 'Shop', items: 2 }],
      currencies: [{ code: 'EUR', items: 2 }],
      categories: CATEGORIES,
    };
    expect(await count(lake, answer)).toEqual([
      'category 1 Office: 3 2',
      'category 2 Pens: 2 1',
      'category 8 A: 0 0',
      'category 9 B: 0 0',
      'currency EUR EUR: 2 2',
      'site 7 Shop: 2 2',
    ]);
  });

  test('are 0 on a side without the value, and a category that the service lacks is named by its slug', async () => {
    const lake = [
      { category_slug: 'a', currency: null },
      { item_id: 2, site_id: 8, category_slug: null },
    ];
    expect(
      await count(lake, {
        sites: [
          { id: 7, name: 'Shop', items: 1 },
          { id: 9, name: 'Other', items: 4 },
        ],
      }),
    ).toEqual(['category a : 0 1', 'currency EUR : 0 1', 'site 7 Shop: 1 1', 'site 8 : 0 1', 'site 9 Other: 4 0']);
  });

  test("of a category aren't increased by a website with the same number as a parent category", async () => {
    const [office, pens] = CATEGORIES;
    const categories = [
      { ...office, parentId: '3' },
      pens,
      { id: '3', name: 'All', slug: 'all', parentId: null, items: 2 },
    ];
    const found = await count([{}], { categories, sites: [{ id: 1, name: 'pens', items: 1 }] });
    expect(found.filter((line) => line.startsWith('category'))).toEqual([
      'category 1 Office: 3 1',
      'category 2 Pens: 2 1',
      'category 3 All: 2 1',
    ]);
  });

  test('in a cycle of categories include those of each', async () => {
    const found = await count([{ category_slug: 'a' }], { categories: CATEGORIES });
    expect(found).toContain('category 8 A: 0 1');
    expect(found).toContain('category 9 B: 0 1');
  });

  test('leave out items that are only in unreadable datasets', async () => {
    const lake = [{ datasets: '[a, b]' }, { datasets: '[c]' }, { datasets: '[]' }, { datasets: null }];
    const numbered = lake.map((row, n) => ({ ...row, item_id: n, category_slug: null, currency: null }));
    expect(await count(numbered, {}, ['b'])).toEqual(['site 7 : 0 3']);
    expect(await count(numbered, {}, null)).toEqual(['site 7 : 0 4']);
  });
});

describe('a product of the service', () => {
  const THEIRS = { id: 'p1', gtin: '4006381333931', offers: '3', shops: '2' };
  const OURS = { product_id: '4006381333931', offers: 3, shops: 2 };
  const price = (currency: string, min: string, max: string, offers: string) => ({ currency, min, max, offers });
  const PRICE = { product_id: '4006381333931', currency: 'EUR', min: 9.5, max: 12, offers: 3 };

  async function compare(theirs: object[], ours: Row[], prices: Row[] = []): Promise<string[]> {
    await db.run(`CREATE OR REPLACE VIEW landed_products AS SELECT r.* FROM (
      SELECT unnest(from_json(${quote(theirs)}, '[{"id": "VARCHAR", "title": "VARCHAR", "brand": "VARCHAR", "mpn": "VARCHAR",
        "gtin": "VARCHAR", "offers": "VARCHAR", "shops": "VARCHAR", "category_slug": "VARCHAR",
        "prices": [{"currency": "VARCHAR", "min": "VARCHAR", "max": "VARCHAR", "offers": "VARCHAR"}]}]')) AS r)`);
    await db.run(`CREATE OR REPLACE TABLE landed_service_products AS ${readModel('service_products')}`);
    await loadRows(db, 'products', 'products', ours);
    await loadRows(db, 'product_prices', 'product_prices', prices);
    const rows = await readJson(readModel('compare_products'));
    return rows.map((row) => `${row.service_id} ${row.differences}`);
  }
  const quote = (value: unknown) => `'${JSON.stringify(value)}'`;

  test("equals the lake's if offers, shops and prices are equal, in any order", async () => {
    const prices = [price('PLN', '40', '50', '1'), price('EUR', '9.50', '12', '3')];
    const ours = [{ ...PRICE, currency: 'PLN', min: 40, max: 50, offers: 1 }, PRICE];
    expect(await compare([{ ...THEIRS, prices }], [OURS], ours)).toEqual([]);
    expect(await compare([THEIRS], [OURS])).toEqual([]);
    expect(await compare([{ ...THEIRS, prices: [] }], [OURS])).toEqual([]);
  });

  test.each<[string, object[], Row[], Row[], string[]]>([
    ['is missing if the lake lacks it', [THEIRS], [], [], ['p1 missing']],
    ['may differ in offers', [{ ...THEIRS, offers: '4' }], [OURS], [], ['p1 offers']],
    ['may differ in shops', [{ ...THEIRS, shops: '3' }], [OURS], [], ['p1 shops']],
    ['may differ by prices that only the lake has', [THEIRS], [OURS], [PRICE], ['p1 prices']],
    [
      'may differ by prices that only the service has',
      [{ ...THEIRS, prices: [price('EUR', '1', '2', '3')] }],
      [OURS],
      [],
      ['p1 prices'],
    ],
    ['is identified by its id if that is a GTIN', [{ ...THEIRS, gtin: null, id: '4006381333931' }], [OURS], [], []],
    ['is identified by its GTIN before its id', [{ ...THEIRS, id: '96385074' }], [OURS], [], []],
    [
      "isn't identified by another kind of id",
      [{ ...THEIRS, gtin: null, id: 'p4006381333931' }],
      [OURS],
      [],
      ['p4006381333931 missing'],
    ],
    [
      'is represented by the entry with most offers if it occurs twice',
      [
        { ...THEIRS, offers: '9' },
        { ...THEIRS, offers: '10' },
      ],
      [{ ...OURS, offers: 10 }],
      [],
      [],
    ],
    ['without an id is ignored', [{ ...THEIRS, id: null }], [], [], []],
  ])('%s', async (_name, theirs, ours, prices, expected) => {
    expect(await compare(theirs, ours, prices)).toEqual(expected);
  });
});
