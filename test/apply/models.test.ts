import { describe, expect, test } from 'vitest';
import { sql } from '../../src/sql/sql.js';
import { at, change, item, openModels, type Row, shown } from './model-world.js';

const { bind, play, readTexts } = await openModels();

describe("whether an item's complete row must be read", () => {
  /** The items that must be read because of these changes. */
  const need = async (base: Row, ...changes: Row[]) =>
    readTexts((await play({ base: [item(base)], changes: changes.map(change) })).needed, 'item_id, observed_at');

  test.each([
    ['no, for a price change without other values', {}, false],
    ['no, for a change to no price', { price: null, changes: '{"price":[10,null]}' }, false],
    [
      'no, for a price change that also contains the values computed from it',
      { changes: '{"price":[10,11],"previousPrice":[null,10]}' },
      false,
    ],
    ['yes, for a price change that only previousPrice reports', { changes: '{}' }, true],
    ['yes, for a price change whose changes are null', { changes: null }, true],
    ['yes, for an undocumented kind', { kind: 'REPRICED' }, true],
    ['yes, for a change of another value', { changes: '{"price":[10,11],"stock":[1,2]}' }, true],
    ['yes, for a change that contains no values', { previous_price: null, changes: '{}' }, true],
    ['yes, for a change whose changes are null', { previous_price: null, changes: null }, true],
    ['yes, for a new listing', { kind: 'NEW' }, true],
    ['yes, for a removal', { kind: 'REMOVED' }, true],
    ['yes, for a relisting', { kind: 'RELISTED' }, true],
    ['yes, for a price change that shows another title', { title: 'B' }, true],
    ['yes, for a price change that shows another currency', { currency: 'CHF' }, true],
    ['yes, for a price change that shows another website', { site_id: 8 }, true],
    ['yes, for a price change that shows another URL', { url: 'v' }, true],
    ['no, for a price change without a website', { site_id: null }, false],
    ['no, for a change that was already applied', { change_id: 100 }, false],
    [
      'no, for a change of another value that was already applied',
      { change_id: 100, changes: '{"stock":[1,2]}' },
      false,
    ],
    ["yes, for a change at the time of the row's last change", { observed_at: at(5) }, true],
    ['yes, for a change of an unknown item', { item_id: 2 }, true],
    ['no, for a change without an item id', { item_id: null }, false],
  ])('%s', async (_name, changed, needs) => {
    expect(await need({}, changed)).toHaveLength(needs ? 1 : 0);
  });

  test.each([
    ['yes, for the first title', null, 'B', true],
    ['yes, for no title, although the row has one', 'A', null, true],
    ['no, for no title, like the row', null, null, false],
    ['no, for an empty title, if the row has none', null, '', false],
  ])('%s in a price change', async (_name, before, title, needs) => {
    expect(await need({ title: before }, { title })).toHaveLength(needs ? 1 : 0);
  });

  test.each([
    ['yes, for a price change if an attribute has the name of a field', '{"price":"on request"}', true],
    [
      'no, for a price change if an attribute only contains the name of a field in its text',
      '{"note":"\\"price\\" on request","stock":1}',
      false,
    ],
  ])('%s', async (_name, attributes, needs) => {
    expect(await need({ attributes }, {})).toHaveLength(needs ? 1 : 0);
  });

  test('an item is listed once, with the time of its first change', async () => {
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
  /** A row that shows a website; the one with the highest rank and place is the latest. */
  const ref = (row: Row = {}) => ({ ...known, rank: 1, place: 1, ...row });

  /** The rows of websites after the run. Rows that this run added or ended begin with `new`. */
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
    ['keep one row if nothing changed', [known], [ref()], [same]],
    ['keep their row if no item shows them', [known], [], [same]],
    [
      'get a new row for another license text, and the old row ends',
      [known],
      [ref({ attribution: 'ODbL' })],
      [ended, 'new 7 Shop shop.example ODbL true 12 -'],
    ],
    [
      'get a new row for another name, and rows of other websites stay',
      [known, other],
      [ref({ name: 'Store' })],
      [ended, 'new 7 Store shop.example CC BY 4.0 true 12 -', 'old 8 Other shop.example CC BY 4.0 true 1 -'],
    ],
    [
      'get a new row for another host',
      [known],
      [ref({ host: 'store.example' })],
      [ended, 'new 7 Shop store.example CC BY 4.0 true 12 -'],
    ],
    [
      'keep rows that ended earlier',
      [past, known],
      [ref({ name: 'Store' })],
      ['old 7 Old shop.example CC BY 4.0 false 0 1', ended, 'new 7 Store shop.example CC BY 4.0 true 12 -'],
    ],
    [
      'get one row each from the last place of the highest rank, including new websites',
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
    ['keep a license text that only some rows show', [known], [ref(), ref({ attribution: null, rank: 2 })], [same]],
  ])('%s', async (_name, sites, refs, expected) => {
    expect((await sitesAfter(sites, refs)).sort()).toEqual([...expected].sort());
  });
});
