import { describe, expect, test } from 'vitest';
import { at, change, item, type ModelWorld, openModels, type Row, read, shown } from './model-world.js';

const { play, readTexts } = await openModels();

const REMOVED = { kind: 'REMOVED', previous_price: null, changes: '{}' };
const RELISTED = { kind: 'RELISTED', previous_price: null, changes: '{}' };
const halfPast = (hour: number) => at(hour).replace(':00:', ':30:');
const STOCK = { previous_price: null, price: 10, changes: '{"stock":[1,2]}' };

/** True if an item has to be read. */
const isNeeded = async (world: ModelWorld) => (await readTexts((await play(world)).needed)).length > 0;
/** The rows of the items after the changes are applied, with these columns. */
const apply = async (world: ModelWorld, columns: string) => readTexts((await play(world)).applied, columns);
const judgments = async (world: ModelWorld, columns: string) => readTexts((await play(world)).judged, columns);

/** For each item, why its read was not accepted as current. */
async function judge(world: ModelWorld): Promise<Record<string, unknown>[]> {
  const rows = await judgments(world, 'item_id, reason, is_rejected');
  return rows.map(({ reason, is_rejected }) => ({ reason, isRejected: is_rejected === 'true' }));
}

describe('a complete row that was read after a change happened', () => {
  test.each([
    ["isn't read again if it shows the change", { last_changed_at: at(6) }, STOCK, false],
    ["isn't read again if it shows a later change", { last_changed_at: at(7) }, STOCK, false],
    ['is read again if it lags behind the change', {}, STOCK, true],
    ["isn't read again if it lags behind a price that the change contains", {}, {}, false],
    ["isn't read again if it shows the removal, even with an old lastChangedAt", { removed_at: at(6) }, REMOVED, false],
    ['is read again if it lags behind the removal', {}, REMOVED, true],
    ["isn't read again if the item was seen after the removal", { last_seen_at: at(8) }, REMOVED, false],
    [
      "isn't read again if it shows the relisting, even with an old lastChangedAt",
      { last_seen_at: at(6) },
      RELISTED,
      false,
    ],
    ['is read again if it lags behind the relisting', { removed_at: at(4) }, RELISTED, true],
    ["isn't read again if the item was removed again after the relisting", { removed_at: at(9) }, RELISTED, false],
    ["isn't read again if the change is NEW and the item is listed", {}, { kind: 'NEW' }, false],
  ])('%s', async (_name, row, changed, needed) => {
    expect(await isNeeded({ base: [read(row)], changes: [change(changed)], watermark: 200 })).toBe(needed);
  });
});

describe('a row that may show a change only by chance', () => {
  test.each([
    [
      "isn't read again if it was read when the change was the newest",
      read({ last_changed_at: at(6) }),
      STOCK,
      101,
      false,
    ],
    ['is read again if it was read before the change', read({ last_changed_at: at(6) }), STOCK, 100, true],
    ['is read again if it was read before the item was new', read({}), { kind: 'NEW' }, 100, true],
    ['is read again if an earlier run read it', item({ removed_at: at(6), is_listed: false }), REMOVED, 200, true],
  ])('%s', async (_name, row, changed, watermark, needed) => {
    expect(await isNeeded({ base: [row], changes: [change(changed)], watermark })).toBe(needed);
  });
});

describe('the delay between the times of rows and of their changes in the feed', () => {
  const readAt = '2026-11-20T05:00:00Z';
  /** A change this many seconds after the read. */
  const told = (id: number, seconds: number) =>
    change({ item_id: id, observed_at: new Date(Date.parse(readAt) + seconds * 1000).toISOString() });
  const all = (...seconds: number[]) => [1, 2, 3].flatMap((id) => seconds.map((one) => told(id, one)));
  const measure = async (items: number[], changes: Row[], skews: ModelWorld['skews'] = []) => {
    const reread = items.map((id) => read({ item_id: id, last_changed_at: readAt }));
    return (await play({ reread, changes, skews })).skew;
  };
  const known = { us: 91_000_000n, isKnown: true };
  const apart = [told(1, 71), told(2, 85)];

  test.each([
    ['the distance on which most items agree', [told(1, 71), told(2, 85), ...all(90)], known],
    ['that distance, even if one change has the time of its read', [told(1, 0), ...all(90)], known],
    [
      'zero if one change has the time of its read and no distance recurs',
      [told(1, 0), told(2, 71), told(3, 85)],
      { us: 0n, isKnown: true },
    ],
    ['zero if all changes have the times of their reads', all(0), { us: 0n, isKnown: true }],
    ['the shorter of two distances on which all items agree', all(90, 110), known],
    ['the shorter distance, in any order', all(110, 90), known],
    ['zero if zero is the shortest distance', all(3, 0), { us: 0n, isKnown: true }],
  ])('is %s', async (_name, changes, skew) => {
    expect(await measure([1, 2, 3], changes)).toEqual(skew);
  });

  test('is the one that the last run measured if too few items agree', async () => {
    expect(await measure([1, 2], apart, [5_000_000, 91_000_000, null])).toEqual(known);
    expect(await measure([1, 2], [told(1, 90), told(2, 90)], [5_000_000])).toEqual(known);
    for (const skews of [[], [null]]) expect((await measure([1, 2], apart, skews)).isKnown).toBe(false);
  });
});

describe('a read of a changed item', () => {
  const base = [item({})];

  test.each([
    ['becomes the row if it shows the change', { last_changed_at: at(6) }, STOCK, null],
    ['is kept but repeated if it lags behind the change', {}, STOCK, 'a change is not shown'],
    ['becomes the row if it shows the removal', { removed_at: at(6) }, REMOVED, null],
    ['is repeated if it lags behind the removal', {}, REMOVED, 'the removal is not shown'],
    ['becomes the row if the item was seen after the removal', { last_seen_at: at(8) }, REMOVED, null],
    [
      'shows the change if its lastChangedAt is shortly before the change was observed',
      { last_changed_at: '2026-11-20T05:59:58Z' },
      STOCK,
      null,
    ],
  ])('%s', async (_name, row, changed, reason) => {
    expect(await judge({ base, reread: [read(row)], changes: [change(changed)] })).toEqual([
      { reason, isRejected: false },
    ]);
  });

  test('is repeated if it lags behind the relisting', async () => {
    const removed = item({ removed_at: at(5), is_listed: false, last_seen_at: at(4) });
    const changes = [change(RELISTED)];
    const told = (row: Parameters<typeof read>[0]) => judge({ base: [removed], reread: [read(row)], changes });
    expect(await told({ removed_at: at(5), last_seen_at: at(4) })).toEqual([
      { reason: 'the relisting is not shown', isRejected: false },
    ]);
    // A replica from before the removal also shows the item as listed.
    expect(await told({ last_seen_at: at(3) })).toMatchObject([{ reason: 'older than the copy' }]);
    expect(await told({ last_seen_at: at(6) })).toEqual([{ reason: null, isRejected: false }]);
  });

  test('is kept but repeated if it shows only the first of two changes', async () => {
    const changes = [
      change({ ...STOCK, observed_at: '2026-11-20T06:00:00Z' }),
      change({ ...STOCK, change_id: 102, observed_at: '2026-11-20T06:00:20Z' }),
    ];
    expect(await judge({ base, reread: [read({ last_changed_at: at(6) })], changes })).toEqual([
      { reason: 'a change is not shown', isRejected: false },
    ]);
  });

  test('is rejected if it is older than the copy', async () => {
    const reread = [read({ last_changed_at: at(3), price: 8 })];
    expect(await judge({ base, reread, changes: [change(STOCK)] })).toEqual([
      { reason: 'older than the copy', isRejected: true },
    ]);
  });

  test("doesn't show the relisting if the item was last seen before the removal, no matter what reported the removal", async () => {
    const removed = item({ removed_at: at(5), is_listed: false, last_seen_at: at(4) });
    const row = { last_changed_at: halfPast(5), last_seen_at: halfPast(4) };
    const reason = 'the relisting is not shown';
    expect(await judge({ base: [removed], reread: [read(row)], changes: [change(RELISTED)] })).toMatchObject([
      { reason },
    ]);
    const again = [
      change(RELISTED),
      change({ ...REMOVED, change_id: 102, observed_at: at(7) }),
      change({ ...RELISTED, change_id: 103, observed_at: at(8) }),
    ];
    const seen = { ...row, last_seen_at: halfPast(6) };
    expect(await judge({ base: [removed], reread: [read(seen)], changes: again })).toMatchObject([{ reason }]);
  });

  describe('with several reported removals and relistings', () => {
    const told = (...kinds: Row[]) =>
      kinds.map((kind, n) => change({ ...kind, change_id: 101 + n, observed_at: at(6 + n) }));
    test.each([
      [
        'must show the last event, a removal',
        told(RELISTED, REMOVED),
        { last_seen_at: halfPast(6) },
        'the removal is not shown',
      ],
      [
        'shows the last event because the item was seen after it',
        told(RELISTED, REMOVED),
        { last_seen_at: halfPast(7) },
        null,
      ],
      [
        'must show the last event, a relisting',
        told(REMOVED, RELISTED, REMOVED, RELISTED),
        { last_seen_at: halfPast(7) },
        'the relisting is not shown',
      ],
      [
        'shows a relisting if the item was seen after the last removal',
        told(REMOVED, RELISTED, REMOVED, RELISTED),
        { last_seen_at: halfPast(8) },
        null,
      ],
      [
        "doesn't show the last removal if it only shows one before the last relisting",
        told(RELISTED, REMOVED, RELISTED, REMOVED),
        { removed_at: at(7), last_seen_at: at(6) },
        'the removal is not shown',
      ],
      [
        'shows the last removal if its removed_at is after the last relisting',
        told(RELISTED, REMOVED, RELISTED, REMOVED),
        { removed_at: halfPast(8), last_seen_at: at(6) },
        null,
      ],
    ])('%s', async (_name, changes, row, reason) => {
      const world = { base: [item({ last_seen_at: at(3) })], reread: [read(row)], changes };
      expect(await judge(world)).toEqual([{ reason, isRejected: false }]);
    });
  });

  test.each([
    ["isn't older if price and title agree", {}, null],
    ['is older if the price differs', { price: 9 }, 'older than the copy'],
    ['is older if the title differs', { title: 'B' }, 'older than the copy'],
  ])('with a slightly earlier lastChangedAt than the copy %s', async (_name, row, reason) => {
    const copy = [item({ last_changed_at: '2026-11-20T05:01:00Z' })];
    const changes = [change({ ...STOCK, observed_at: at(4) })];
    expect(await judge({ base: copy, reread: [read(row)], changes })).toMatchObject([{ reason }]);
  });

  test("is left to the next run if the item isn't found yet", async () => {
    expect(await judge({ changes: [change({ kind: 'NEW' })] })).toEqual([{ reason: 'not found', isRejected: false }]);
  });

  test.each([
    ['becomes the row if it shows the change', { last_changed_at: at(6), price: 11 }, 'as read'],
    ['becomes the row if it shows a later price', { last_changed_at: at(7), price: 12 }, 'as read'],
    ["is ignored if it doesn't show the change", { last_changed_at: at(5), price: 10 }, 'A'],
    ['is ignored if it may be from before the change', { last_changed_at: '2026-11-20T05:59:00Z', price: 10 }, 'A'],
    ['is ignored if it shows another price at the time of the change', { last_changed_at: at(6), price: 12 }, 'A'],
  ])("from a list, which wasn't needed, %s", async (_name, values, title) => {
    const world = { base, reread: [read({ title: 'as read', ...values })], changes: [change({})] };
    expect(await apply(world, 'title, change_id')).toEqual([{ title, change_id: '101' }]);
  });
});

describe('an item in stale_items', () => {
  const stale = (first_read_at: string) => [
    {
      item_id: 1,
      reason: 'a change is not shown',
      change_id: 101,
      observed_at: at(6),
      first_read_at,
      run_id: 'earlier run',
    },
  ];
  const told = { base: [item({ last_changed_at: at(6), change_id: 101 })], history: [change(STOCK)] };

  test('is read again, and a read that still lags is rejected', async () => {
    const world = {
      ...told,
      stale: stale('2026-11-20T11:50:00Z'),
      reread: [read({ title: 'A', last_changed_at: '2026-11-20T05:59:58Z' })],
    };
    expect(await isNeeded(world)).toBe(true);
    expect(await judge({ ...world, reread: [read({})] })).toEqual([
      { reason: 'older than the copy', isRejected: true },
    ]);
    expect(await judge({ ...world, reread: [] })).toMatchObject([{ reason: 'not found' }]);
  });

  test('leaves stale_items when a read shows the change, allowing for the measured delay of the feed', async () => {
    const observed_at = '2026-11-20T06:01:30Z';
    const world = {
      base: [item({ last_changed_at: observed_at, change_id: 101 })],
      history: [change({ ...STOCK, observed_at })],
      stale: stale('2026-11-20T11:50:00Z').map((row) => ({ ...row, observed_at })),
      skews: [91_000_000],
    };
    // The change contained no title, so the current row has another title than the read.
    const read0 = read({ title: null, last_changed_at: at(6) });
    expect(await judge({ ...world, reread: [read0] })).toEqual([{ reason: null, isRejected: false }]);
    const older = [{ reason: 'older than the copy', isRejected: true }];
    expect(await judge({ ...world, reread: [read0], skews: [] })).toEqual(older);
    expect(await judge({ ...world, reread: [{ ...read0, last_changed_at: '2026-11-20T05:59:58Z' }] })).toEqual(older);
    // A row that was read completely has its own time.
    const base = [item({ last_changed_at: '2026-11-20T06:01:00Z', change_id: 101 })];
    expect(await judge({ ...world, base, reread: [read0] })).toEqual(older);
  });

  test('leaves stale_items when a read shows the change, and keeps its last change id', async () => {
    const reread = [read({ last_changed_at: at(6), brand: 'B' })];
    const world = { ...told, stale: stale('2026-11-20T11:50:00Z'), reread };
    expect(await judge(world)).toMatchObject([{ reason: null }]);
    expect(await apply(world, 'brand, change_id')).toEqual([{ brand: 'B', change_id: '101' }]);
  });

  test('keeps its first change and its times, and must show newly reported changes too', async () => {
    const world = {
      base: told.base,
      // Changes of other items, and changes before the first missing one, don't count.
      history: [
        change({ ...STOCK, change_id: 90, observed_at: at(11) }),
        change(STOCK),
        change({ ...STOCK, item_id: 2, change_id: 300, observed_at: at(11) }),
      ],
      stale: stale('2026-11-20T10:30:00Z'),
      reread: [read({ last_changed_at: at(7) })],
    };
    const columns = 'reason, first_change_id, change_id, observed_at, first_read_at AS read';
    const judged = (changes: Row[]) => judgments({ ...world, changes }, columns);
    expect(await judged([])).toEqual([
      { reason: null, first_change_id: '101', change_id: '101', observed_at: shown(6), read: '2026-11-20 10:30:00+00' },
    ]);
    // A change in this run restarts the hour.
    const news = [
      change({ ...STOCK, change_id: 105, observed_at: at(7) }),
      change({ ...STOCK, change_id: 106, observed_at: at(8) }),
    ];
    expect(await judged(news)).toEqual([
      {
        reason: 'a change is not shown',
        first_change_id: '101',
        change_id: '106',
        observed_at: shown(6),
        read: shown(12),
      },
    ]);
  });

  test("isn't kept by changes before its first missing one, or by changes of other items", async () => {
    const [first] = stale('2026-11-20T11:50:00Z');
    const world = {
      base: [...told.base, item({ item_id: 2, last_changed_at: at(6), change_id: 101 })],
      history: [
        change({ ...STOCK, change_id: 90, observed_at: at(11) }),
        change({ ...STOCK, change_id: 101, observed_at: at(6) }),
        change({ ...STOCK, item_id: 2, change_id: 80, observed_at: at(6) }),
        change({ ...STOCK, item_id: 2, change_id: 102, observed_at: at(10) }),
        change({ ...STOCK, item_id: 3, change_id: 300, observed_at: at(11) }),
      ],
      stale: [first as Row, { ...first, item_id: 2, change_id: 80 }],
      reread: [read({ last_changed_at: at(7) }), read({ item_id: 2, last_changed_at: at(7) })],
    };
    expect(await judge(world)).toEqual([
      { reason: null, isRejected: false },
      { reason: 'a change is not shown', isRejected: true },
    ]);
  });

  test('keeps its first change, and a read is rejected as older or not found, even if history lacks its changes', async () => {
    const world = {
      base: [item({ last_changed_at: '2026-11-20T05:01:00Z' })],
      stale: stale('2026-11-20T11:50:00Z'),
      skews: [91_000_000],
    };
    const reread = [read({ price: 9 })];
    expect(await judge({ ...world, reread })).toEqual([{ reason: 'older than the copy', isRejected: true }]);
    expect(await judge(world)).toEqual([{ reason: 'not found', isRejected: true }]);
    // It begins with the change that earlier runs recorded, not with a newly reported one.
    const changes = [change({ ...STOCK, change_id: 105, observed_at: at(7) })];
    expect(await judgments({ ...world, changes }, 'first_change_id, change_id, observed_at')).toEqual([
      { first_change_id: '101', change_id: '105', observed_at: shown(6) },
    ]);
  });

  test("that wasn't there before starts with the first change that no read shows", async () => {
    const changes = [
      change({ ...STOCK, observed_at: at(7) }),
      change({ ...STOCK, change_id: 102, observed_at: at(8) }),
    ];
    const columns = 'reason, is_rejected, first_change_id, change_id, observed_at';
    expect(await judgments({ base: [item({})], reread: [read({})], changes }, columns)).toEqual([
      {
        reason: 'a change is not shown',
        is_rejected: 'false',
        first_change_id: '101',
        change_id: '102',
        observed_at: shown(7),
      },
    ]);
  });

  test("accepts the service's row after an hour", async () => {
    const world = { ...told, stale: stale('2026-11-20T11:00:00Z'), reread: [read({ title: 'B' })] };
    expect(await judge(world)).toEqual([{ reason: null, isRejected: false }]);
    expect(await apply(world, 'title')).toEqual([{ title: 'B' }]);
  });
});

describe('rows after a read that lags', () => {
  const removed = (row: Row = {}) => change({ ...REMOVED, ...row });
  const gone = { removed_at: shown(6), is_listed: 'false', change_id: '101' };

  test.each<[string, ModelWorld, Record<string, string | null>]>([
    [
      'contain the reported changes applied to the read',
      {
        base: [item({ title: 'before' })],
        reread: [read({ title: 'as read' })],
        changes: [
          change({}),
          change({ ...STOCK, change_id: 102, price: 11 }),
          removed({ change_id: 103, observed_at: at(7) }),
        ],
      },
      { ...gone, title: 'as read', price: '11.0000', removed_at: shown(7), change_id: '103' },
    ],
    [
      'contain the reported changes applied to the previous row if the read is older',
      {
        base: [item({ title: 'so far' })],
        reread: [read({ title: 'old', last_changed_at: at(2) })],
        changes: [removed()],
      },
      { ...gone, title: 'so far', price: '10.0000' },
    ],
    [
      'keep a removal that is later than the reported relisting',
      { base: [read({ removed_at: at(9), is_listed: false })], changes: [change(RELISTED)] },
      { removed_at: shown(9), is_listed: 'false' },
    ],
    [
      'keep a listing that was seen after the reported removal',
      { base: [read({ last_seen_at: at(9) })], changes: [removed()] },
      { removed_at: null, is_listed: 'true' },
    ],
  ])('%s', async (_name, world, row) => {
    expect(await apply(world, '*')).toMatchObject([row]);
  });
});
