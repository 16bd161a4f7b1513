import { describe, expect, test } from 'vitest';
import { at, change, item, type ModelWorld, openModels, type Row, read, shown } from './model-world.js';

const { play, readTexts } = await openModels();

const REMOVED = { kind: 'REMOVED', previous_price: null, changes: '{}' };
const RELISTED = { kind: 'RELISTED', previous_price: null, changes: '{}' };
const halfPast = (hour: number) => at(hour).replace(':00:', ':30:');
const STOCK = { previous_price: null, price: 10, changes: '{"stock":[1,2]}' };

/** True if an item has to be read. */
const isNeeded = async (world: ModelWorld) => (await readTexts((await play(world)).needed)).length > 0;
/** What becomes of the items, with these columns. */
const apply = async (world: ModelWorld, columns: string) => readTexts((await play(world)).applied, columns);
const judgements = async (world: ModelWorld, columns: string) => readTexts((await play(world)).judged, columns);

/** What reads of the run lack, item by item. */
async function judge(world: ModelWorld): Promise<Record<string, unknown>[]> {
  const rows = await judgements(world, 'item_id, reason, is_rejected');
  return rows.map(({ reason, is_rejected }) => ({ reason, isRejected: is_rejected === 'true' }));
}

describe('a whole row that was read after a change happened', () => {
  test.each([
    ['shows it', { last_changed_at: at(6) }, STOCK, false],
    ['shows a later one', { last_changed_at: at(7) }, STOCK, false],
    ['lags behind it', {}, STOCK, true],
    ['lags behind a price, which the change tells', {}, {}, false],
    ['shows the removal, which left lastChangedAt alone', { removed_at: at(6) }, REMOVED, false],
    ['lags behind the removal', {}, REMOVED, true],
    ['was found again after the removal', { last_seen_at: at(8) }, REMOVED, false],
    ['shows the relisting, which left lastChangedAt alone', { last_seen_at: at(6) }, RELISTED, false],
    ['lags behind the relisting', { removed_at: at(4) }, RELISTED, true],
    ['was removed again after the relisting', { removed_at: at(9) }, RELISTED, false],
    ['is there, as the change says', {}, { kind: 'NEW' }, false],
  ])('%s', async (_name, row, changed, needed) => {
    expect(await isNeeded({ base: [read(row)], changes: [change(changed)], watermark: 200 })).toBe(needed);
  });
});

describe('a row that may show a change by chance', () => {
  test.each([
    ['was read when the change was the newest', read({ last_changed_at: at(6) }), STOCK, 101, false],
    ['was read before the change', read({ last_changed_at: at(6) }), STOCK, 100, true],
    ['was read before it was new', read({}), { kind: 'NEW' }, 100, true],
    ['was read by an earlier run', item({ removed_at: at(6), is_listed: false }), REMOVED, 200, true],
  ])('%s', async (_name, row, changed, watermark, needed) => {
    expect(await isNeeded({ base: [row], changes: [change(changed)], watermark })).toBe(needed);
  });
});

describe('how much later the feed dates changes than rows', () => {
  const readAt = '2026-11-20T05:00:00Z';
  /** A change so many seconds behind the read. */
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
    ['also where a change has the time of a read', [told(1, 0), ...all(90)], known],
    ['else nothing where one has', [told(1, 0), told(2, 71), told(3, 85)], { us: 0n, isKnown: true }],
    ['nothing where all have', all(0), { us: 0n, isKnown: true }],
    ['the nearest of two on which all agree', all(90, 110), known],
    ['the nearest, in whatever order', all(110, 90), known],
    ['nothing where that is the nearest', all(3, 0), { us: 0n, isKnown: true }],
  ])('is %s', async (_name, changes, skew) => {
    expect(await measure([1, 2, 3], changes)).toEqual(skew);
  });

  test('is what the last run that could tell has established, while no two items agree', async () => {
    expect(await measure([1, 2], apart, [5_000_000, 91_000_000, null])).toEqual(known);
    expect(await measure([1, 2], [told(1, 90), told(2, 90)], [5_000_000])).toEqual(known);
    for (const skews of [[], [null]]) expect((await measure([1, 2], apart, skews)).isKnown).toBe(false);
  });
});

describe('a read of an item that changed', () => {
  const base = [item({})];

  test.each([
    ['that shows the change is the row', { last_changed_at: at(6) }, STOCK, null],
    ['that lags behind the change is kept, and the item read again', {}, STOCK, 'a change is not shown'],
    ['that shows the removal is the row', { removed_at: at(6) }, REMOVED, null],
    ['that lags behind the removal', {}, REMOVED, 'the removal is not shown'],
    ['that was found since the removal shows more than it', { last_seen_at: at(8) }, REMOVED, null],
    [
      'with a lastChangedAt shortly before the change was observed shows it',
      { last_changed_at: '2026-11-20T05:59:58Z' },
      STOCK,
      null,
    ],
  ])('%s', async (_name, row, changed, reason) => {
    expect(await judge({ base, reread: [read(row)], changes: [change(changed)] })).toEqual([
      { reason, isRejected: false },
    ]);
  });

  test('that lags behind the relisting', async () => {
    const removed = item({ removed_at: at(5), is_listed: false, last_seen_at: at(4) });
    const changes = [change(RELISTED)];
    const told = (row: Parameters<typeof read>[0]) => judge({ base: [removed], reread: [read(row)], changes });
    expect(await told({ removed_at: at(5), last_seen_at: at(4) })).toEqual([
      { reason: 'the relisting is not shown', isRejected: false },
    ]);
    // A replica from before the removal shows the item listed, too.
    expect(await told({ last_seen_at: at(3) })).toMatchObject([{ reason: 'older than the copy' }]);
    expect(await told({ last_seen_at: at(6) })).toEqual([{ reason: null, isRejected: false }]);
  });

  test('that shows the first of two changes is kept, and the item read again', async () => {
    const changes = [
      change({ ...STOCK, observed_at: '2026-11-20T06:00:00Z' }),
      change({ ...STOCK, change_id: 102, observed_at: '2026-11-20T06:00:20Z' }),
    ];
    expect(await judge({ base, reread: [read({ last_changed_at: at(6) })], changes })).toEqual([
      { reason: 'a change is not shown', isRejected: false },
    ]);
  });

  test('that is older than the copy is rejected', async () => {
    const reread = [read({ last_changed_at: at(3), price: 8 })];
    expect(await judge({ base, reread, changes: [change(STOCK)] })).toEqual([
      { reason: 'older than the copy', isRejected: true },
    ]);
  });

  test('that was found before the removal does not show the relisting, whoever tells of the removal', async () => {
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

  describe('of which several removals and relistings are told', () => {
    const told = (...kinds: Row[]) =>
      kinds.map((kind, n) => change({ ...kind, change_id: 101 + n, observed_at: at(6 + n) }));
    test.each([
      [
        'has to show the last, a removal',
        told(RELISTED, REMOVED),
        { last_seen_at: halfPast(6) },
        'the removal is not shown',
      ],
      ['shows the last, as it was found since', told(RELISTED, REMOVED), { last_seen_at: halfPast(7) }, null],
      [
        'has to show the last, a relisting',
        told(REMOVED, RELISTED, REMOVED, RELISTED),
        { last_seen_at: halfPast(7) },
        'the relisting is not shown',
      ],
      [
        'shows a relisting where it was found since the last removal',
        told(REMOVED, RELISTED, REMOVED, RELISTED),
        { last_seen_at: halfPast(8) },
        null,
      ],
      [
        'shows a removal before the last relisting alone',
        told(RELISTED, REMOVED, RELISTED, REMOVED),
        { removed_at: at(7), last_seen_at: at(6) },
        'the removal is not shown',
      ],
      [
        'shows a removal after the last relisting',
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
    ['is none the older where price and title agree', {}, null],
    ['is older where the price differs', { price: 9 }, 'older than the copy'],
    ['is older where the title differs', { title: 'B' }, 'older than the copy'],
  ])('that dates its change a little earlier than the copy %s', async (_name, row, reason) => {
    const copy = [item({ last_changed_at: '2026-11-20T05:01:00Z' })];
    const changes = [change({ ...STOCK, observed_at: at(4) })];
    expect(await judge({ base: copy, reread: [read(row)], changes })).toMatchObject([{ reason }]);
  });

  test('that does not find it yet leaves it to the next run', async () => {
    expect(await judge({ changes: [change({ kind: 'NEW' })] })).toEqual([{ reason: 'not found', isRejected: false }]);
  });

  test.each([
    ['shows the change is the row', { last_changed_at: at(6), price: 11 }, 'as read'],
    ['shows a later price is the row', { last_changed_at: at(7), price: 12 }, 'as read'],
    ['does not show the change is none', { last_changed_at: at(5), price: 10 }, 'A'],
    ['may be of a moment before the change is none', { last_changed_at: '2026-11-20T05:59:00Z', price: 10 }, 'A'],
    ['shows another price at the time of the change is none', { last_changed_at: at(6), price: 12 }, 'A'],
  ])('that a list brought beside and that %s', async (_name, values, title) => {
    const world = { base, reread: [read({ title: 'as read', ...values })], changes: [change({})] };
    expect(await apply(world, 'title, change_id')).toEqual([{ title, change_id: '101' }]);
  });
});

describe('an item that an earlier run left stale', () => {
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

  test('is done when a read shows the change as long before the feed dates it as runs have established', async () => {
    const observed_at = '2026-11-20T06:01:30Z';
    const world = {
      base: [item({ last_changed_at: observed_at, change_id: 101 })],
      history: [change({ ...STOCK, observed_at })],
      stale: stale('2026-11-20T11:50:00Z').map((row) => ({ ...row, observed_at })),
      skews: [91_000_000],
    };
    // The change told no title: the row so far has another one than the read.
    const read0 = read({ title: null, last_changed_at: at(6) });
    expect(await judge({ ...world, reread: [read0] })).toEqual([{ reason: null, isRejected: false }]);
    const older = [{ reason: 'older than the copy', isRejected: true }];
    expect(await judge({ ...world, reread: [read0], skews: [] })).toEqual(older);
    expect(await judge({ ...world, reread: [{ ...read0, last_changed_at: '2026-11-20T05:59:58Z' }] })).toEqual(older);
    // A row that was read whole has a time of its own.
    const base = [item({ last_changed_at: '2026-11-20T06:01:00Z', change_id: 101 })];
    expect(await judge({ ...world, base, reread: [read0] })).toEqual(older);
  });

  test('is done when a read shows the change, and keeps its last change', async () => {
    const reread = [read({ last_changed_at: at(6), brand: 'B' })];
    const world = { ...told, stale: stale('2026-11-20T11:50:00Z'), reread };
    expect(await judge(world)).toMatchObject([{ reason: null }]);
    expect(await apply(world, 'brand, change_id')).toEqual([{ brand: 'B', change_id: '101' }]);
  });

  test('keeps its first change and its times, and what is told of it now counts too', async () => {
    const world = {
      base: told.base,
      // Another item's changes, and those before the one that no read showed, are of no account.
      history: [
        change({ ...STOCK, change_id: 90, observed_at: at(11) }),
        change(STOCK),
        change({ ...STOCK, item_id: 2, change_id: 300, observed_at: at(11) }),
      ],
      stale: stale('2026-11-20T10:30:00Z'),
      reread: [read({ last_changed_at: at(7) })],
    };
    const columns = 'reason, first_change_id, change_id, observed_at, first_read_at AS read';
    const judged = (changes: Row[]) => judgements({ ...world, changes }, columns);
    expect(await judged([])).toEqual([
      { reason: null, first_change_id: '101', change_id: '101', observed_at: shown(6), read: '2026-11-20 10:30:00+00' },
    ]);
    // A change of this run begins the hour again.
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

  test('is not held back by changes before those that no read showed, nor by those of other items', async () => {
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

  test('is rejected as older, and as not found, also where history has nothing of it', async () => {
    const world = {
      base: [item({ last_changed_at: '2026-11-20T05:01:00Z' })],
      stale: stale('2026-11-20T11:50:00Z'),
      skews: [91_000_000],
    };
    const reread = [read({ price: 9 })];
    expect(await judge({ ...world, reread })).toEqual([{ reason: 'older than the copy', isRejected: true }]);
    expect(await judge(world)).toEqual([{ reason: 'not found', isRejected: true }]);
    // What begins it is what earlier runs have noted, not what is told now.
    const changes = [change({ ...STOCK, change_id: 105, observed_at: at(7) })];
    expect(await judgements({ ...world, changes }, 'first_change_id, change_id, observed_at')).toEqual([
      { first_change_id: '101', change_id: '105', observed_at: shown(6) },
    ]);
  });

  test('of no earlier run begins with the first change that no read shows', async () => {
    const changes = [
      change({ ...STOCK, observed_at: at(7) }),
      change({ ...STOCK, change_id: 102, observed_at: at(8) }),
    ];
    const columns = 'reason, is_rejected, first_change_id, change_id, observed_at';
    expect(await judgements({ base: [item({})], reread: [read({})], changes }, columns)).toEqual([
      {
        reason: 'a change is not shown',
        is_rejected: 'false',
        first_change_id: '101',
        change_id: '102',
        observed_at: shown(7),
      },
    ]);
  });

  test('is taken as the service shows it after an hour', async () => {
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
      'show what was told, on top of the read',
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
      'are the rows so far with what was told, where the read is older',
      {
        base: [item({ title: 'so far' })],
        reread: [read({ title: 'old', last_changed_at: at(2) })],
        changes: [removed()],
      },
      { ...gone, title: 'so far', price: '10.0000' },
    ],
    [
      'keep a removal that is later than the relisting that was told',
      { base: [read({ removed_at: at(9), is_listed: false })], changes: [change(RELISTED)] },
      { removed_at: shown(9), is_listed: 'false' },
    ],
    [
      'keep a listing that was found after the removal that was told',
      { base: [read({ last_seen_at: at(9) })], changes: [removed()] },
      { removed_at: null, is_listed: 'true' },
    ],
  ])('%s', async (_name, world, row) => {
    expect(await apply(world, '*')).toMatchObject([row]);
  });
});
