import { describe, expect, test } from 'vitest';
import { at, change, fullItem, type ModelWorld, openModels, type Row, shown, type Texts } from './model-world.js';

const { play, readTexts } = await openModels();

const apply = async (world: ModelWorld) => readTexts((await play(world)).applied);

/** Applies the world to one full item, and returns the columns of its row that differ afterwards. All others must be equal. */
async function differences(base: Row, world: ModelWorld): Promise<Texts> {
  const played = await play({ ...world, base: [fullItem(base)] });
  const [after = {}, ...others] = await readTexts(played.applied);
  const [before = {}] = await readTexts(played.base);
  expect(others).toEqual([]);
  expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
  return Object.fromEntries(Object.entries(after).filter(([column, value]) => value !== before[column]));
}

const applied = { change_id: '101', run_id: 'this run' };
const plain = { previous_price: null, changes: '{}', price: 10 };
/** A change of a value other than the price, and the columns that it sets. */
const STOCK = { ...plain, changes: '{"stock":[1,2]}' };
const CHANGED = { ...applied, last_seen_at: shown(6), last_changed_at: shown(6) };
const REMOVED = { ...plain, kind: 'REMOVED' };
const RELISTED = { ...plain, kind: 'RELISTED' };
const NEW = { ...plain, kind: 'NEW' };
const gone = { is_listed: false, last_seen_at: at(3) };

describe('the columns that a single change sets', () => {
  const titled = (before: string, after: string | null): Row => ({
    ...plain,
    title: after,
    changes: JSON.stringify({ title: [before, after] }),
  });
  const removed = { ...gone, removed_at: at(4) };
  const missing = { gone_at: at(5), is_listed: false };
  const priced = { ...CHANGED, previous_price: '10.0000', price_changed_at: shown(6) };
  const listed = { ...applied, price: '12.0000', last_seen_at: shown(6), removed_at: null, is_listed: 'true' };

  test.each<[string, Row, Row, Texts]>([
    [
      'a price change sets the price, the previous price, price_changed_at, and when the item was seen',
      {},
      { price: 12, previous_price: 11 },
      { ...priced, price: '12.0000', previous_price: '11.0000' },
    ],
    [
      'a price change to null clears the price and keeps the previous price',
      {},
      { price: null, changes: '{"price":[10,null]}' },
      { ...priced, price: null },
    ],
    [
      'a change of another value sets when the item was seen and changed, and leaves the price alone',
      {},
      { ...STOCK, price: 12 },
      CHANGED,
    ],
    ['a title change sets the title', {}, titled('A', 'B'), { ...CHANGED, title: 'B' }],
    ['a title change to null clears the title', {}, titled('A', null), { ...CHANGED, title: null }],
    [
      "a price change whose event shows another title doesn't set the title",
      {},
      { title: 'B' },
      { ...priced, price: '11.0000' },
    ],
    [
      "a change of an attribute named title doesn't set the title",
      {},
      { ...plain, changes: '{"title":["Dr","Prof"]}' },
      CHANGED,
    ],
    [
      'a removal sets removed_at, and leaves the price and the times seen and changed alone',
      {},
      { ...REMOVED, price: 12 },
      { ...applied, removed_at: shown(6), is_listed: 'false' },
    ],
    [
      'a relisting sets the price and when the item was seen, but not when it changed',
      removed,
      { ...RELISTED, price: 12 },
      listed,
    ],
    [
      'a new listing of a removed item lists it, and sets its price and the times seen and changed',
      removed,
      { ...NEW, price: 12 },
      { ...listed, last_changed_at: shown(6) },
    ],
    [
      'a change of an item that was gone lists it again',
      missing,
      STOCK,
      { ...CHANGED, gone_at: null, is_listed: 'true' },
    ],
    [
      'a removal of an item that was gone replaces gone_at by removed_at, and keeps the item unlisted',
      missing,
      REMOVED,
      { ...applied, gone_at: null, removed_at: shown(6) },
    ],
  ])('%s', async (_name, base, told, expected) => {
    expect(await differences(base, { changes: [change(told)] })).toEqual(expected);
  });
});

describe('several changes of one item', () => {
  test('each value comes from the change with the highest id that contains it', async () => {
    const changes = [
      change({ change_id: 105, ...plain, changes: '{"stock":[1,2]}', observed_at: at(8), title: 'C' }),
      change({ change_id: 104, ...plain, title: 'C', changes: '{"title":["B","C"]}', observed_at: at(7) }),
      change({ change_id: 103, ...plain, title: 'B', changes: '{"title":["A","B"]}', observed_at: at(7) }),
      change({ change_id: 102, price: 13, previous_price: 12, observed_at: at(6) }),
      change({ change_id: 101, price: 12, previous_price: 10, observed_at: at(7) }),
    ];
    expect(await differences({}, { changes })).toEqual({
      change_id: '105',
      run_id: 'this run',
      title: 'C',
      price: '13.0000',
      previous_price: '12.0000',
      price_changed_at: shown(6),
      last_seen_at: shown(8),
      last_changed_at: shown(8),
    });
  });

  test.each<[string, Row[], Texts]>([
    [
      'a price change takes precedence over the price of a later listing',
      [{ price: 12 }, { ...RELISTED, price: 13 }],
      { price: '12.0000', price_changed_at: shown(6) },
    ],
    [
      'of two listings, the last one sets the price',
      [
        { ...NEW, price: 13 },
        { ...RELISTED, price: 12 },
      ],
      { price: '12.0000' },
    ],
    [
      'a removal followed by a change leaves the item removed',
      [REMOVED, {}],
      { removed_at: shown(6), is_listed: 'false' },
    ],
    [
      'a removal followed by a relisting leaves the item listed',
      [REMOVED, RELISTED],
      { removed_at: null, is_listed: 'true' },
    ],
    [
      'a relisting followed by a removal leaves the item removed',
      [RELISTED, REMOVED],
      { removed_at: shown(7), is_listed: 'false' },
    ],
    [
      'a removal followed by a new listing leaves the item listed',
      [REMOVED, NEW],
      { removed_at: null, is_listed: 'true' },
    ],
    ['the last of two removals sets removed_at', [REMOVED, REMOVED], { removed_at: shown(7), is_listed: 'false' }],
  ])('%s', async (_name, told, expected) => {
    const changes = told.map((values, n) => change({ ...values, change_id: 101 + n, observed_at: at(6 + n) }));
    expect(await apply({ base: [fullItem({})], changes })).toMatchObject([expected]);
  });
});

describe('the times in a row', () => {
  const unknown = { last_seen_at: null, last_changed_at: null };
  test.each<[string, Row, Row, Texts]>([
    ['last_seen_at never goes backwards', { last_seen_at: at(9) }, STOCK, { ...applied, last_changed_at: shown(6) }],
    ['a change sets last_seen_at and last_changed_at if they are unknown', unknown, STOCK, CHANGED],
    [
      'a removal never sets last_seen_at, even if it is unknown',
      unknown,
      REMOVED,
      { ...applied, removed_at: shown(6), is_listed: 'false' },
    ],
  ])('%s', async (_name, base, told, expected) => {
    expect(await differences(base, { changes: [change(told)] })).toEqual(expected);
  });

  test.each([
    ['that was seen after the reported removal stays listed', { last_seen_at: at(7) }, [REMOVED], null],
    ['that was last seen at the time of the removal becomes removed', { last_seen_at: at(6) }, [REMOVED], shown(6)],
    ['that is already removed keeps its removed_at', { ...gone, removed_at: at(4) }, [REMOVED], shown(4)],
    [
      'that was removed after a reported relisting keeps its removed_at',
      { ...gone, removed_at: at(7) },
      [RELISTED, REMOVED],
      shown(7),
    ],
    [
      'that was removed before a reported relisting gets the time of the later removal',
      { ...gone, removed_at: at(4) },
      [RELISTED, REMOVED],
      shown(8),
    ],
    [
      'that was removed between two reported relistings gets the time of the last removal',
      { ...gone, removed_at: at(9) },
      [RELISTED, REMOVED, RELISTED, REMOVED],
      shown(12),
    ],
    ['that was removed after the relisting stays removed', { ...gone, removed_at: at(7) }, [RELISTED], shown(7)],
    ['that was removed at the time of the relisting becomes listed', { ...gone, removed_at: at(6) }, [RELISTED], null],
    ['that was removed after the NEW event stays removed', { ...gone, removed_at: at(7) }, [NEW], shown(7)],
  ])('an item %s', async (_name, base, told, removedAt) => {
    const changes = told.map((values, n) => change({ ...values, change_id: 101 + n, observed_at: at(6 + 2 * n) }));
    const [row] = await apply({ base: [fullItem(base)], changes });
    expect([row?.removed_at, row?.is_listed]).toEqual([removedAt, String(removedAt === null)]);
  });
});

describe('changes that are not applied', () => {
  test.each([
    ['a change that was already applied', { change_id: 100 }, {}],
    ["a change observed before the row's last change", { observed_at: at(4) }, {}],
    ['a change without an item id', { item_id: null }, {}],
    ['a change of another item', { item_id: 2 }, {}],
  ])('%s', async (_name, values, base) => {
    expect(await apply({ base: [fullItem(base)], changes: [change(values)] })).toEqual([]);
  });

  const sameMoment = { observed_at: at(5), price: 12, previous_price: 11 };

  test('a change up to the watermark, at the time of the last change in a row that this run read', async () => {
    const base = [fullItem({ run_id: 'this run', change_id: null })];
    expect(await apply({ base, changes: [change(sameMoment)], watermark: 101 })).toEqual([]);
  });

  test.each([
    ['after the watermark', { run_id: 'this run' }, {}, 100],
    ['without a watermark', { run_id: 'this run' }, {}, undefined],
    ['to a row that an earlier run read', { run_id: 'earlier run' }, {}, 101],
    ["at a later time than the row's last change", { run_id: 'this run' }, { observed_at: at(6) }, 101],
    ['to a row without a time', { run_id: 'this run', last_changed_at: null }, {}, 101],
    ['to a row to which no change was applied', { change_id: null }, {}, undefined],
  ])('but the same change %s is applied', async (_name, base, values, watermark) => {
    const rows = await apply({
      base: [fullItem(base)],
      changes: [change({ ...sameMoment, ...values })],
      ...(watermark === undefined ? {} : { watermark }),
    });
    expect(rows).toMatchObject([{ price: '12.0000', change_id: '101' }]);
  });
});

describe('a complete row that was read again', () => {
  const other: Row = {
    title: 'B',
    brand: 'Other',
    mpn: 'M-2',
    gtin: '96385074',
    gtin14: '00000096385074',
    product_id: '96385074',
    price: 20,
    previous_price: 19,
    price_changed_at: at(7),
    currency: 'CHF',
    url: 'v',
    image: 'j',
    attributes: '{"stock":2}',
    category_name: 'Ink',
    category_path: 'Office > Ink',
    category_slug: 'ink',
    category_source: 'service',
    datasets: '[c]',
    site_id: 8,
    site_name: 'Store',
    site_host: 'store.example',
    source_id: 4,
    source_name: 'Other source',
    first_seen_at: at(2),
    last_seen_at: at(8),
    last_changed_at: at(7),
    extra: '{"y":1}',
    read_at: at(9),
    run_id: 'this run',
    change_id: null,
  };
  const stock = change({ ...plain, changes: '{"stock":[1,2]}' });

  test('replaces every column if it shows the changes, and keeps the last change id', async () => {
    const played = await play({ base: [fullItem({})], reread: [fullItem(other)], changes: [stock] });
    const [read] = await readTexts(played.reread);
    expect(await readTexts(played.applied)).toEqual([{ ...read, change_id: '101' }]);
  });

  test('keeps its price if it changed later than the price change at the same time', async () => {
    const reread = [fullItem({ ...other, last_changed_at: at(6) })];
    const told = change({ price: 12, previous_price: 11, changes: '{"price":[11,12],"stock":[1,2]}' });
    expect(await apply({ base: [fullItem({})], reread, changes: [told] })).toMatchObject([{ price: '20.0000' }]);
  });

  test('is added if the lake lacks the item', async () => {
    const rows = await apply({ reread: [fullItem(other)], changes: [change({ ...NEW })] });
    expect(rows).toMatchObject([{ item_id: '1', title: 'B', change_id: '101', is_listed: 'true' }]);
  });

  test('replaces the row of an item that is in stale_items, even without a new change', async () => {
    const stale = {
      item_id: 1,
      reason: 'a change is not shown',
      change_id: 101,
      observed_at: at(6),
      first_read_at: '2026-11-20T11:50:00Z',
      run_id: 'earlier run',
    };
    const base = [fullItem({ change_id: 101, last_changed_at: at(6) })];
    const rows = await apply({ base, stale: [stale], history: [stock], reread: [fullItem(other)] });
    expect(rows).toMatchObject([{ title: 'B', change_id: '101', run_id: 'this run' }]);
  });
});

describe("a complete row that differs from the lake's row", () => {
  test('replaces the row, although no change reports the difference', async () => {
    expect(await differences({}, { different: [1] })).toEqual({ run_id: 'this run' });
  });

  test('gets the id of the change that is applied to it if no change was applied before', async () => {
    const world = { different: [1], changes: [change({})] };
    expect(await differences({ change_id: null }, world)).toMatchObject({ change_id: '101', price: '11.0000' });
  });

  test("isn't listed if it is gone or removed", async () => {
    const base = [
      fullItem({ item_id: 1 }),
      fullItem({ item_id: 2, gone_at: at(6) }),
      fullItem({ item_id: 3, removed_at: at(6) }),
      fullItem({ item_id: 4, gone_at: at(6), removed_at: at(6) }),
    ];
    const rows = await apply({ base, different: [1, 2, 3, 4] });
    expect(rows.map(({ is_listed }) => is_listed)).toEqual(['true', 'false', 'false', 'false']);
    expect(rows.map(({ gone_at }) => gone_at)).toEqual([null, shown(6), null, shown(6)]);
  });

  test('leaves other rows alone', async () => {
    const base = [fullItem({}), fullItem({ item_id: 2 })];
    expect(await apply({ base, different: [2] })).toMatchObject([{ item_id: '2' }]);
  });
});

describe('a renamed dataset', () => {
  const renamedDatasets = [
    { former: 'a', name: 'b' },
    { former: 'b', name: 'a' },
    { former: 'c', name: 'd' },
  ];

  test('gets its new name in every row that contains the former name, and nothing else changes', async () => {
    const base = [
      fullItem({}),
      fullItem({ item_id: 2, datasets: '[x, c]' }),
      fullItem({ item_id: 3, datasets: '[x]' }),
    ];
    const rows = await apply({ base: [...base, fullItem({ item_id: 4, datasets: null })], renamedDatasets });
    expect(rows.map((row) => [row.item_id, row.datasets])).toEqual([
      ['1', '[b, a]'],
      ['2', '[x, d]'],
    ]);
    expect(await differences({ datasets: '[c]' }, { renamedDatasets })).toEqual({
      datasets: '[d]',
      run_id: 'this run',
    });
  });

  test('gets its new name in a row that also changes', async () => {
    const world = { changes: [change({})], renamedDatasets };
    expect(await differences({ datasets: '[c]' }, world)).toMatchObject({ price: '11.0000', datasets: '[d]' });
  });

  test('leaves the rows that this run read unchanged', async () => {
    const row = { datasets: '[a]', run_id: 'this run' };
    expect(await apply({ base: [fullItem(row)], renamedDatasets })).toEqual([]);
    const read = { base: [fullItem({ datasets: '[c]' })], changes: [change(NEW)], reread: [fullItem(row)] };
    expect(await apply({ ...read, renamedDatasets })).toMatchObject([{ datasets: '[a]' }]);
  });

  test('gets its new name in a row that a complete copy lacks; a change or a new read lists the item again', async () => {
    const lacked = fullItem({ datasets: '[c]' });
    const missing = [fullItem({ gone_at: at(9), is_listed: false })];
    const gone = { datasets: '[d]', gone_at: shown(9), is_listed: 'false', run_id: 'this run' };
    expect(await differences({ datasets: '[c]' }, { missing, renamedDatasets })).toEqual(gone);
    const told = { base: [lacked], missing, renamedDatasets, changes: [change({})] };
    expect(await apply(told)).toMatchObject([{ datasets: '[d]', gone_at: null, is_listed: 'true' }]);
    const read = fullItem({ datasets: '[d]', run_id: 'this run', last_changed_at: at(7), last_seen_at: at(7) });
    expect(await apply({ ...told, reread: [read] })).toMatchObject([{ gone_at: null, is_listed: 'true' }]);
  });
});

describe('a renamed website', () => {
  const site = (row: Row): Row => ({ site_id: 7, name: 'Shop', host: 'shop.example', is_current: true, ...row });

  test('gets its new name and host in all of its rows, and in no other row', async () => {
    const base = [fullItem({}), fullItem({ item_id: 2 }), fullItem({ item_id: 3, site_id: 8 })];
    const rows = await apply({ base, renamed: [site({ name: 'Store', host: 'store.example' })] });
    expect(rows.map((row) => [row.item_id, row.site_name, row.site_host, row.run_id])).toEqual([
      ['1', 'Store', 'store.example', 'this run'],
      ['2', 'Store', 'store.example', 'this run'],
    ]);
  });

  const run_id = 'this run';
  const store = site({ name: 'Store', host: 'store.example' });
  const nameless = site({ name: null, host: null });
  test.each<[string, Row, Row[], Texts]>([
    [
      'with a new host only changes the host',
      site({ host: 'store.example' }),
      [],
      { site_host: 'store.example', run_id },
    ],
    ['with a new name only changes the name', site({ name: 'Store' }), [], { site_name: 'Store', run_id }],
    [
      'is renamed in a row that also changes',
      store,
      [STOCK],
      { ...CHANGED, site_name: 'Store', site_host: 'store.example' },
    ],
    ["without a name and host doesn't clear the row's", nameless, [STOCK], CHANGED],
  ])('%s', async (_name, renamed, told, expected) => {
    expect(await differences({}, { changes: told.map(change), renamed: [renamed] })).toEqual(expected);
  });

  test('that equals the row leaves the row alone', async () => {
    expect(await apply({ base: [fullItem({})], renamed: [site({})] })).toEqual([]);
  });

  test('leaves the names and hosts of other websites alone in rows that change', async () => {
    const base = [fullItem({}), fullItem({ item_id: 2, site_id: 8, site_name: 'Other', site_host: 'other.example' })];
    const changes = [change({}), change({ change_id: 102, item_id: 2, site_id: 8 })];
    const renamed = [site({ name: 'Store' }), site({ site_id: 9, name: 'Third', host: 'third.example' })];
    const rows = await apply({ base, changes, renamed });
    expect(rows.map((row) => [row.item_id, row.site_name, row.site_host])).toEqual([
      ['1', 'Store', 'shop.example'],
      ['2', 'Other', 'other.example'],
    ]);
  });

  test('is renamed in rows of gone and removed items, which stay unlisted', async () => {
    const base = [
      fullItem({ gone_at: at(5), is_listed: false }),
      fullItem({ item_id: 2, removed_at: at(5), is_listed: false }),
    ];
    const rows = await apply({ base, renamed: [site({ name: 'Store' })] });
    expect(rows).toMatchObject([
      { site_name: 'Store', gone_at: shown(5), is_listed: 'false' },
      { site_name: 'Store', removed_at: shown(5), is_listed: 'false' },
    ]);
  });
});
