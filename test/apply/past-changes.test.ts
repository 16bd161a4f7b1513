import { describe, expect, test } from 'vitest';
import { at, change, item, openModels, type Row } from './model-world.js';

const { bind, readTexts } = await openModels();

interface World {
  /** Entries of items' histories, landed now. */
  entries: Row[];
  history?: Row[];
  feed?: Row[];
  webhooks?: Row[];
  items?: Row[];
  /** Change up to which the feed is applied; without it there is no feed. */
  cursor?: number;
}

const entry = (id: number, hour: number, row: Row = {}): Row =>
  change({ change_id: id, observed_at: at(hour), origin: 'history', ...row });
const known = (id: number | null, hour: number, row: Row = {}): Row =>
  change({ change_id: id, observed_at: at(hour), origin: 'feed', run_id: 'earlier run', ...row });

function fillRows({ entries, history = [], feed = [], webhooks = [], items = [], cursor }: World) {
  const told = { typed_changes: [...entries, ...feed, ...webhooks], feed_changes: feed, early_changes: webhooks };
  const feed_cursor = cursor === undefined ? null : BigInt(cursor);
  return bind('past_changes', { ...told, history, items }, { with_feed: cursor !== undefined, feed_cursor });
}

/** The entries that are new to history: item, change id, kind and hour. */
async function fill(world: World): Promise<unknown[]> {
  const text = "concat_ws(' ', item_id, coalesce(change_id::VARCHAR, '-'), kind, hour(observed_at)) AS text";
  return (await readTexts(fillRows(world), text)).map((row) => row.text);
}

describe('entries of items’ histories', () => {
  test('are those that history lacks, be it an entry of another kind, time or item', async () => {
    const entries = [entry(11, 3), entry(12, 5), entry(13, 5, { kind: 'REMOVED' }), entry(12, 5, { item_id: 2 })];
    expect(await fill({ entries, history: [known(null, 5)] })).toEqual([
      '1 - CHANGED 3',
      '1 - REMOVED 5',
      '2 - CHANGED 5',
    ]);
  });

  test('count once where they come twice', async () => {
    expect(await fill({ entries: [entry(11, 3), entry(11, 3), entry(12, 4)] })).toEqual([
      '1 - CHANGED 3',
      '1 - CHANGED 4',
    ]);
  });

  test('of an earlier try of the same run are new, still', async () => {
    const history = [known(null, 3, { run_id: 'this run' })];
    expect(await fill({ entries: [entry(11, 3)], history })).toEqual(['1 - CHANGED 3']);
  });

  test('are left to the feed and to webhooks where these bring them', async () => {
    const entries = [entry(11, 3), entry(12, 4), entry(13, 5)];
    expect(await fill({ entries, feed: [known(31, 3)], webhooks: [known(32, 4, { origin: 'webhook' })] })).toEqual([
      '1 - CHANGED 5',
    ]);
  });

  test('have what the item has now, or nothing where it is gone', async () => {
    const now = { title: 'now', url: 'there', currency: 'PLN', site_id: 8 };
    const rows = fillRows({ entries: [entry(11, 3), entry(12, 4, { item_id: 2 })], items: [item(now)] });
    expect(await readTexts(rows, 'item_id, title, url, currency, site_id, origin')).toEqual([
      { item_id: '1', title: 'now', url: 'there', currency: 'PLN', site_id: '8', origin: 'history' },
      { item_id: '2', title: null, url: null, currency: null, site_id: null, origin: 'history' },
    ]);
  });
});

describe('the currency of an entry', () => {
  const switched = (id: number, hour: number, before: string, after: string) =>
    entry(id, hour, { changes: JSON.stringify({ currency: [before, after] }) });
  const readCurrencies = async (world: World) =>
    (await readTexts(fillRows(world), "concat_ws(' ', hour(observed_at), currency) AS text")).map((row) => row.text);

  test.each<[string, World, string[]]>([
    [
      'is the one before the next change that names it, and the one of the last such change after it',
      {
        entries: [
          entry(11, 3),
          switched(12, 5, 'CZK', 'PLN'),
          entry(13, 6),
          switched(14, 7, 'PLN', 'EUR'),
          entry(15, 8),
        ],
        items: [item({ currency: 'EUR' })],
      },
      ['3 CZK', '5 PLN', '6 PLN', '7 EUR', '8 EUR'],
    ],
    [
      'is unknown where such changes contradict each other, or the item',
      {
        entries: [switched(12, 5, 'CZK', 'PLN'), entry(13, 6), switched(14, 7, 'HUF', 'EUR'), entry(15, 8)],
        items: [item({ currency: 'USD' })],
      },
      ['5 PLN', '6', '7 EUR', '8'],
    ],
    [
      'follows a change that the feed or an earlier run has brought',
      {
        entries: [entry(11, 3), entry(13, 6)],
        history: [known(null, 5, { changes: '{"currency":["CZK","EUR"]}', origin: 'diff', currency: 'EUR' })],
        items: [item({ currency: 'EUR' })],
      },
      ['3 CZK', '6 EUR'],
    ],
    [
      'is that of the next change that is known, where no change names it',
      { entries: [entry(11, 3)], history: [known(null, 5, { currency: 'CZK' })], items: [item({ currency: 'EUR' })] },
      ['3 CZK'],
    ],
    [
      'is not what an attribute of that name has',
      {
        entries: [entry(11, 3), entry(12, 5, { changes: '{"currency":["old coins","new coins"]}' })],
        items: [item({ currency: 'EUR' })],
      },
      ['3 EUR', '5 EUR'],
    ],
  ])('%s', async (_name, world, expected) => {
    expect(await readCurrencies(world)).toEqual(expected);
  });
});

describe('the id of an entry', () => {
  const entries = [entry(11, 3), entry(12, 4), entry(13, 5)];

  test.each<[string, Row[], string]>([
    ['is that of its change where all that are known agree', [known(11, 3), known(12, 4)], '1 13 CHANGED 5'],
    ['is none where one of them differs', [known(11, 3), known(92, 4)], '1 - CHANGED 5'],
    ['is none where none is known', [known(null, 3), known(null, 4)], '1 - CHANGED 5'],
    [
      'is that of its change where some are not known',
      [known(11, 3), known(null, 4, { origin: 'diff' })],
      '1 13 CHANGED 5',
    ],
  ])('%s', async (_name, history, expected) => {
    expect(await fill({ entries, history })).toEqual([expected]);
  });

  test('shows that history has it with another time, where ids are those of changes', async () => {
    expect(await fill({ entries, history: [known(11, 3), known(12, 4), known(13, 9)] })).toEqual([]);
    expect(await fill({ entries, history: [known(91, 3), known(12, 4), known(13, 9)] })).toEqual(['1 - CHANGED 5']);
  });
});

describe('where there is a feed, entries', () => {
  test('are those up to its cursor where their ids are those of changes', async () => {
    const entries = [entry(11, 3), entry(20, 9), entry(21, 4)];
    expect(await fill({ entries, feed: [known(11, 3)], cursor: 20 })).toEqual(['1 20 CHANGED 9']);
  });

  const entries = [entry(1, 5), entry(2, 6), entry(3, 7)];
  test.each<[string, Omit<World, 'entries'>, string[]]>([
    [
      'are else those up to the time that it has reached',
      {
        feed: [known(20, 6, { item_id: 2 }), known(21, 8, { item_id: 2 })],
        items: [item({ last_changed_at: at(9) })],
      },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are those up to the time that history has by it',
      { history: [known(20, 6, { item_id: 2 }), known(19, 5, { item_id: 2 })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are not counted by what else is known of other items',
      {
        history: [known(19, 5, { item_id: 2 }), known(null, 8, { item_id: 2, origin: 'diff' })],
        webhooks: [known(18, 8, { item_id: 2, origin: 'webhook' })],
      },
      ['1 - CHANGED 5'],
    ],
    [
      'are those up to the newest that is known of the item, also without an id',
      { history: [known(null, 6, { origin: 'diff', kind: 'RELISTED' })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are those up to a minute before the newest change of the items where nothing else is known',
      { items: [item({ last_changed_at: '2026-11-20T06:01:00Z' }), item({ item_id: 2, last_changed_at: at(3) })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are none of the minute before it',
      { items: [item({ last_changed_at: '2026-11-20T06:00:59Z' })] },
      ['1 - CHANGED 5'],
    ],
    ['are none where nothing at all is known', {}, []],
  ])('%s', async (_name, world, expected) => {
    expect(await fill({ entries, cursor: 20, ...world })).toEqual(expected);
  });
});
