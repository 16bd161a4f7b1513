import { describe, expect, test } from 'vitest';
import { at, change, item, openModels, type Row } from './model-world.js';

const { bind, readTexts } = await openModels();

interface World {
  /** Entries of item histories that landed in this run. */
  entries: Row[];
  history?: Row[];
  feed?: Row[];
  webhooks?: Row[];
  items?: Row[];
  /** The change up to which the feed is applied; undefined without a feed. */
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

/** The entries that history lacks: item, change id, kind and hour. */
async function fill(world: World): Promise<unknown[]> {
  const text = "concat_ws(' ', item_id, coalesce(change_id::VARCHAR, '-'), kind, hour(observed_at)) AS text";
  return (await readTexts(fillRows(world), text)).map((row) => row.text);
}

describe('entries of item histories', () => {
  test('are added if history has no entry with the same item, kind and time', async () => {
    const entries = [entry(11, 3), entry(12, 5), entry(13, 5, { kind: 'REMOVED' }), entry(12, 5, { item_id: 2 })];
    expect(await fill({ entries, history: [known(null, 5)] })).toEqual([
      '1 - CHANGED 3',
      '1 - REMOVED 5',
      '2 - CHANGED 5',
    ]);
  });

  test('are added once if they arrive twice', async () => {
    expect(await fill({ entries: [entry(11, 3), entry(11, 3), entry(12, 4)] })).toEqual([
      '1 - CHANGED 3',
      '1 - CHANGED 4',
    ]);
  });

  test('are still new if an earlier attempt of the same run added them', async () => {
    const history = [known(null, 3, { run_id: 'this run' })];
    expect(await fill({ entries: [entry(11, 3)], history })).toEqual(['1 - CHANGED 3']);
  });

  test('are left out if the feed or a webhook reports them', async () => {
    const entries = [entry(11, 3), entry(12, 4), entry(13, 5)];
    expect(await fill({ entries, feed: [known(31, 3)], webhooks: [known(32, 4, { origin: 'webhook' })] })).toEqual([
      '1 - CHANGED 5',
    ]);
  });

  test('get the current values of the item, or nulls if the item is gone', async () => {
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
      'is the old value of the next change that contains it, or else the new value of the last one',
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
      'is unknown if such changes contradict each other or the item',
      {
        entries: [switched(12, 5, 'CZK', 'PLN'), entry(13, 6), switched(14, 7, 'HUF', 'EUR'), entry(15, 8)],
        items: [item({ currency: 'USD' })],
      },
      ['5 PLN', '6', '7 EUR', '8'],
    ],
    [
      'considers a change from the feed or an earlier run',
      {
        entries: [entry(11, 3), entry(13, 6)],
        history: [known(null, 5, { changes: '{"currency":["CZK","EUR"]}', origin: 'diff', currency: 'EUR' })],
        items: [item({ currency: 'EUR' })],
      },
      ['3 CZK', '6 EUR'],
    ],
    [
      'is that of the next known change if no change contains it',
      { entries: [entry(11, 3)], history: [known(null, 5, { currency: 'CZK' })], items: [item({ currency: 'EUR' })] },
      ['3 CZK'],
    ],
    [
      'ignores an attribute named currency',
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
    ['is the change id if all known ids agree', [known(11, 3), known(12, 4)], '1 13 CHANGED 5'],
    ['is null if a known id differs', [known(11, 3), known(92, 4)], '1 - CHANGED 5'],
    ['is null if no id is known', [known(null, 3), known(null, 4)], '1 - CHANGED 5'],
    [
      'is the change id if the known ids agree and some are unknown',
      [known(11, 3), known(null, 4, { origin: 'diff' })],
      '1 13 CHANGED 5',
    ],
  ])('%s', async (_name, history, expected) => {
    expect(await fill({ entries, history })).toEqual([expected]);
  });

  test('identifies an entry that history has at another time, if entry ids are change ids', async () => {
    expect(await fill({ entries, history: [known(11, 3), known(12, 4), known(13, 9)] })).toEqual([]);
    expect(await fill({ entries, history: [known(91, 3), known(12, 4), known(13, 9)] })).toEqual(['1 - CHANGED 5']);
  });
});

describe('entries with a feed', () => {
  test('are added up to the cursor if their ids are change ids', async () => {
    const entries = [entry(11, 3), entry(20, 9), entry(21, 4)];
    expect(await fill({ entries, feed: [known(11, 3)], cursor: 20 })).toEqual(['1 20 CHANGED 9']);
  });

  const entries = [entry(1, 5), entry(2, 6), entry(3, 7)];
  test.each<[string, Omit<World, 'entries'>, string[]]>([
    [
      'are otherwise added up to the time that the feed has reached',
      {
        feed: [known(20, 6, { item_id: 2 }), known(21, 8, { item_id: 2 })],
        items: [item({ last_changed_at: at(9) })],
      },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are added up to the time that earlier changes from the feed have reached',
      { history: [known(20, 6, { item_id: 2 }), known(19, 5, { item_id: 2 })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      "aren't added up to times from comparisons or webhooks of other items",
      {
        history: [known(19, 5, { item_id: 2 }), known(null, 8, { item_id: 2, origin: 'diff' })],
        webhooks: [known(18, 8, { item_id: 2, origin: 'webhook' })],
      },
      ['1 - CHANGED 5'],
    ],
    [
      "are added up to the item's newest known event, even if it has no id",
      { history: [known(null, 6, { origin: 'diff', kind: 'RELISTED' })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      'are added up to a minute before the newest change of the items, if nothing else is known',
      { items: [item({ last_changed_at: '2026-11-20T06:01:00Z' }), item({ item_id: 2, last_changed_at: at(3) })] },
      ['1 - CHANGED 5', '1 - CHANGED 6'],
    ],
    [
      "aren't added within that minute",
      { items: [item({ last_changed_at: '2026-11-20T06:00:59Z' })] },
      ['1 - CHANGED 5'],
    ],
    ["aren't added if nothing is known", {}, []],
  ])('%s', async (_name, world, expected) => {
    expect(await fill({ entries, cursor: 20, ...world })).toEqual(expected);
  });
});
