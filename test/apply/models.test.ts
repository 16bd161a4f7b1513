import { describe, expect, test } from 'vitest';
import { sql } from '../../src/sql/sql.js';
import { at, change, item, openModels, type Row, shown } from './model-world.js';

const { bind, play, readTexts } = await openModels();

describe('items that must be read whole', () => {
  /** The items that a change makes necessary. */
  const need = async (base: Row, ...changes: Row[]) =>
    readTexts((await play({ base: [item(base)], changes: changes.map(change) })).needed, 'item_id, observed_at');

  test.each([
    ['a price change alone', {}, false],
    ['a price that vanished', { price: null, changes: '{"price":[10,null]}' }, false],
    [
      'a price change that is named with what follows from it',
      { changes: '{"price":[10,11],"previousPrice":[null,10]}' },
      false,
    ],
    ['a price change told by previousPrice alone', { changes: '{}' }, true],
    ['a price change without changes', { changes: null }, true],
    ['a kind that the document does not name', { kind: 'REPRICED' }, true],
    ['a change of another value', { changes: '{"price":[10,11],"stock":[1,2]}' }, true],
    ['a change that names nothing', { previous_price: null, changes: '{}' }, true],
    ['a change without changes', { previous_price: null, changes: null }, true],
    ['a new listing', { kind: 'NEW' }, true],
    ['a removed one', { kind: 'REMOVED' }, true],
    ['one listed again', { kind: 'RELISTED' }, true],
    ['another title beside the price', { title: 'B' }, true],
    ['another currency beside the price', { currency: 'CHF' }, true],
    ['another site beside the price', { site_id: 8 }, true],
    ['another address beside the price', { url: 'v' }, true],
    ['a price change that does not name its website', { site_id: null }, false],
    ['a change that was applied', { change_id: 100 }, false],
    ['a change of another value that was applied', { change_id: 100, changes: '{"stock":[1,2]}' }, false],
    ['a change at the time that the row shows', { observed_at: at(5) }, true],
    ['a change of an unknown item', { item_id: 2 }, true],
    ['a change whose item is gone', { item_id: null }, false],
  ])('for %s', async (_name, changed, needs) => {
    expect(await need({}, changed)).toHaveLength(needs ? 1 : 0);
  });

  test.each([
    ['the first title', null, 'B', true],
    ['that it has no title any more', 'A', null, true],
    ['no title, as before', null, null, false],
    ['an empty title, where there was none', null, '', false],
  ])('for a price change that names beside it %s', async (_name, before, title, needs) => {
    expect(await need({ title: before }, { title })).toHaveLength(needs ? 1 : 0);
  });

  test.each([
    ['has the name of a field', '{"price":"on request"}', true],
    ['only mentions it', '{"note":"\\"price\\" on request","stock":1}', false],
  ])('for a price change of an item one of whose attributes %s', async (_name, attributes, needs) => {
    expect(await need({ attributes }, {})).toHaveLength(needs ? 1 : 0);
  });

  test('are asked for since the first of their changes, once each', async () => {
    const [first, second] = [
      { kind: 'NEW', observed_at: at(8) },
      { change_id: 102, kind: 'REMOVED', observed_at: at(7) },
    ];
    expect(await need({}, first, second)).toEqual([{ item_id: '1', observed_at: shown(7) }]);
  });
});

describe('websites', () => {
  const known: Row = {
    site_id: 7,
    name: 'Shop',
    host: 'shop.example',
    attribution: 'CC BY 4.0',
    valid_from: at(1),
    is_current: true,
    run_id: 'earlier run',
  };
  const past = { ...known, name: 'Old', valid_from: at(0), valid_to: at(1), is_current: false };
  const other = { ...known, site_id: 8, name: 'Other' };
  /** A row that shows a website; the highest rank and place is the latest. */
  const ref = (row: Row = {}) => ({ ...known, rank: 1, place: 1, ...row });

  /** Rows of websites after the run: those of this run begin with `new` or have ended now. */
  async function sitesAfter(sites: Row[], refs: ReturnType<typeof ref>[]): Promise<string[]> {
    const json = JSON.stringify(refs);
    const types = `[{"site_id":"BIGINT","name":"VARCHAR","host":"VARCHAR","attribution":"VARCHAR","rank":"BIGINT","place":"BIGINT"}]`;
    const site_refs = sql`SELECT unnest(from_json(${json}, ${types}), recursive := true)`;
    const rows = await readTexts(
      bind('sites', { sites, site_refs }, {}),
      `concat_ws(' ', if(run_id = 'this run', 'new', 'old'), site_id, name, host, attribution, is_current,
        hour(valid_from), coalesce(hour(valid_to)::VARCHAR, '-')) AS text`,
    );
    return rows.map(({ text }) => String(text));
  }

  const same = 'old 7 Shop shop.example CC BY 4.0 true 1 -';
  const ended = 'new 7 Shop shop.example CC BY 4.0 false 1 12';

  test.each<[string, Row[], ReturnType<typeof ref>[], string[]]>([
    ['that are shown as they are known stay one row', [known], [ref()], [same]],
    ['that are not shown stay as they are', [known], [], [same]],
    [
      'with another licence text get a new row, and the old one ends',
      [known],
      [ref({ attribution: 'ODbL' })],
      [ended, 'new 7 Shop shop.example ODbL true 12 -'],
    ],
    [
      'with another name get a new row, beside those of other sites',
      [known, other],
      [ref({ name: 'Store' })],
      [ended, 'new 7 Store shop.example CC BY 4.0 true 12 -', 'old 8 Other shop.example CC BY 4.0 true 1 -'],
    ],
    [
      'with another host get a new row',
      [known],
      [ref({ host: 'store.example' })],
      [ended, 'new 7 Shop store.example CC BY 4.0 true 12 -'],
    ],
    [
      'keep rows of the past as they are',
      [past, known],
      [ref({ name: 'Store' })],
      ['old 7 Old shop.example CC BY 4.0 false 0 1', ended, 'new 7 Store shop.example CC BY 4.0 true 12 -'],
    ],
    [
      'are as the last place of the highest rank shows them, once each, new ones too',
      [],
      [
        ref({ name: 'first', rank: 2 }),
        ref({ name: 'last', host: 'last.example', attribution: 'B', rank: 2, place: 7 }),
        ref({ name: 'none', rank: 2, place: null }),
        ref({ name: 'lower', place: 9 }),
        ref({ site_id: null, name: 'no id', rank: 9, place: 9 }),
        ref({ site_id: 9, name: 'without a place', place: null }),
        ref({ site_id: 9, name: 'with one' }),
      ],
      ['new 7 last last.example B true 12 -', 'new 9 with one shop.example CC BY 4.0 true 12 -'],
    ],
    ['keep a licence text that only some rows show', [known], [ref(), ref({ attribution: null, rank: 2 })], [same]],
  ])('%s', async (_name, sites, refs, expected) => {
    expect((await sitesAfter(sites, refs)).sort()).toEqual([...expected].sort());
  });
});
