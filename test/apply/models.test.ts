import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/sql/connection.js';
import { loadRows } from '../load-rows.js';
import { at, change, item, loadWorld, openModels, type Row, readModelRows, shown } from './model-world.js';

let db: Database;
beforeAll(async () => {
  db = await openModels();
});
afterAll(() => db.close());

describe('items that must be read whole', () => {
  const needed = async () => (await readModelRows(db, 'needs', 'item_id')).map((row) => row.item_id);

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
    await loadWorld(db, { base: [item({})], changes: [change(changed)] });
    expect((await needed()).length > 0).toBe(needs);
  });

  test.each([
    ['the first title', null, 'B', true],
    ['that it has no title any more', 'A', null, true],
    ['no title, as before', null, null, false],
    ['an empty title, where there was none', null, '', false],
  ])('for a price change that names beside it %s', async (_name, before, title, needs) => {
    await loadWorld(db, { base: [item({ title: before })], changes: [change({ title })] });
    expect((await needed()).length > 0).toBe(needs);
  });

  test.each([
    ['has the name of a field', '{"price":"on request"}', true],
    ['only mentions it', '{"note":"\\"price\\" on request","stock":1}', false],
  ])('for a price change of an item one of whose attributes %s', async (_name, attributes, needs) => {
    await loadWorld(db, { base: [item({ attributes })], changes: [change({})] });
    expect((await needed()).length > 0).toBe(needs);
  });

  test('are asked for since the first of their changes, once each', async () => {
    await loadWorld(db, {
      base: [item({})],
      changes: [
        change({ kind: 'NEW', observed_at: at(8) }),
        change({ change_id: 102, kind: 'REMOVED', observed_at: at(7) }),
      ],
    });
    expect(await readModelRows(db, 'needs', 'item_id, observed_at')).toEqual([
      { item_id: '1', observed_at: expect.any(String) },
    ]);
    expect(await readModelRows(db, 'needs', 'CAST(observed_at AS VARCHAR) AS since')).toEqual([{ since: shown(7) }]);
  });
});

describe('changes applied to items', () => {
  const COLUMNS = `item_id, title, CAST(price AS VARCHAR) AS price, CAST(previous_price AS VARCHAR) AS previous_price,
    CAST(price_changed_at AS VARCHAR) AS price_changed_at, is_listed, CAST(removed_at AS VARCHAR) AS removed_at,
    CAST(last_changed_at AS VARCHAR) AS last_changed_at, change_id, site_name`;
  const applied = () => readModelRows(db, 'apply', COLUMNS);

  test('in order of their ids, whatever order they come in', async () => {
    await loadWorld(db, {
      base: [item({})],
      changes: [
        change({ change_id: 103, price: 13, previous_price: 12, observed_at: at(8) }),
        change({ change_id: 101, price: 11, previous_price: 10, observed_at: at(6) }),
        change({ change_id: 102, price: 12, previous_price: 11, observed_at: at(7) }),
      ],
    });
    expect(await applied()).toMatchObject([
      {
        price: '13.0000',
        previous_price: '12.0000',
        price_changed_at: shown(8),
        last_changed_at: shown(8),
        change_id: '103',
      },
    ]);
  });

  test('do nothing a second time, nor when the row shows a later moment', async () => {
    await loadWorld(db, { base: [item({})], changes: [change({ change_id: 100 }), change({ observed_at: at(4) })] });
    expect(await applied()).toEqual([]);
  });

  test('at exactly the time of the row are applied again', async () => {
    await loadWorld(db, {
      base: [item({ price: 11, previous_price: 10 })],
      changes: [change({ observed_at: at(5) })],
    });
    expect(await applied()).toMatchObject([{ price: '11.0000', previous_price: '10.0000', change_id: '101' }]);
  });

  test('take a price away, which is not to leave it as it was', async () => {
    await loadWorld(db, { base: [item({})], changes: [change({ price: null, changes: '{"price":[10,null]}' })] });
    expect(await applied()).toMatchObject([{ price: null, previous_price: '10.0000' }]);
  });

  test('remove a listing and bring it back; the last of both counts', async () => {
    const removed = change({
      change_id: 101,
      kind: 'REMOVED',
      previous_price: null,
      changes: '{}',
      observed_at: at(6),
    });
    const again = change({
      change_id: 102,
      kind: 'RELISTED',
      price: 9,
      previous_price: null,
      changes: '{}',
      observed_at: at(7),
    });
    await loadWorld(db, { base: [item({})], changes: [removed] });
    expect(await applied()).toMatchObject([{ is_listed: 'false', removed_at: shown(6), price: '10.0000' }]);
    await loadWorld(db, { base: [item({})], changes: [again, removed] });
    expect(await applied()).toMatchObject([{ is_listed: 'true', removed_at: null, price: '9.0000', change_id: '102' }]);
  });

  test('give way to a whole read, which was made after them', async () => {
    await loadWorld(db, {
      base: [item({})],
      reread: [item({ title: 'B', price: 20, change_id: null, last_changed_at: at(9) })],
      changes: [change({ changes: '{"price":[10,11],"stock":[1,2]}' })],
    });
    expect(await applied()).toMatchObject([
      { title: 'B', price: '20.0000', change_id: '101', last_changed_at: shown(9) },
    ]);
  });

  test('of an item that is not in the lake make no row', async () => {
    await loadWorld(db, { changes: [change({ item_id: 5 }), change({ change_id: 102, item_id: null })] });
    expect(await applied()).toEqual([]);
  });

  test('leave rows alone that nothing is said of, but for the new name of their website', async () => {
    await loadWorld(db, {
      base: [item({}), item({ item_id: 2, site_id: 8 })],
      renamed: [{ site_id: 7, name: 'Store', host: 'shop.example', is_current: true }],
    });
    expect(await applied()).toMatchObject([{ item_id: '1', site_name: 'Store', change_id: '100' }]);
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

  const shop = { site_id: '7', name: 'Shop', host: 'shop.example', attribution: 'CC BY 4.0' };

  const createRefs = () =>
    db.run(
      'CREATE OR REPLACE TABLE site_refs (site_id BIGINT, name VARCHAR, host VARCHAR, attribution VARCHAR, rank BIGINT, place BIGINT)',
    );

  /** Sites after the run, when rows showed these; the highest rank is the latest. */
  async function sitesAfter(sites: Row[], refs: [number, string, string | null, number][]) {
    await loadRows(db, 'sites', 'sites', sites);
    await createRefs();
    for (const [id, name, attribution, rank] of refs) {
      const values = [BigInt(id), name, 'shop.example', attribution, BigInt(rank)];
      await db.run('INSERT INTO site_refs VALUES ($1, $2, $3, $4, $5, NULL)', values);
    }
    const columns =
      'site_id, name, attribution, CAST(valid_from AS VARCHAR) AS since, is_current, valid_to IS NULL AS is_open, run_id';
    return readModelRows(db, 'sites', columns);
  }

  test('that are shown as they are known stay one row', async () => {
    const rows = await sitesAfter([known], [[7, 'Shop', 'CC BY 4.0', 1]]);
    expect(rows).toMatchObject([{ since: shown(1), is_current: 'true', is_open: 'true', run_id: 'earlier run' }]);
  });

  test('that are not shown stay as they are', async () => {
    expect(await sitesAfter([known], [])).toMatchObject([{ is_current: 'true', run_id: 'earlier run' }]);
  });

  test('with another licence text get a new row, and the old one ends', async () => {
    const rows = await sitesAfter([known], [[7, 'Shop', 'ODbL', 1]]);
    expect(rows).toMatchObject([
      { attribution: 'CC BY 4.0', since: shown(1), is_current: 'false', is_open: 'false', run_id: 'this run' },
      { attribution: 'ODbL', since: shown(12), is_current: 'true', is_open: 'true', run_id: 'this run' },
    ]);
  });

  test('keep rows of the past as they are', async () => {
    const past = { ...known, name: 'Old', valid_from: at(0), valid_to: at(1), is_current: false };
    const rows = await sitesAfter([past, known], [[7, 'Store', 'CC BY 4.0', 1]]);
    expect(rows.map((row) => [row.name, row.is_current, row.run_id])).toEqual([
      ['Old', 'false', 'earlier run'],
      ['Shop', 'false', 'this run'],
      ['Store', 'true', 'this run'],
    ]);
  });

  test('are as the latest row shows them, once each, new ones too', async () => {
    const rows = await sitesAfter(
      [],
      [
        [8, 'B', null, 2],
        [8, 'A', null, 1],
        [9, 'C', 'PD', 1],
      ],
    );
    expect(rows.map((row) => [row.site_id, row.name, row.attribution, row.is_current])).toEqual([
      ['8', 'B', null, 'true'],
      ['9', 'C', 'PD', 'true'],
    ]);
  });

  test('are as the last place of the highest rank shows them', async () => {
    const refs: [name: string, attribution: string | null, rank: number, place: number | null][] = [
      ['first', 'A', 2, 1],
      ['last', 'B', 2, 7],
      ['none', 'C', 2, null],
      ['lower', 'D', 1, 9],
    ];
    await loadRows(db, 'sites', 'sites', []);
    await createRefs();
    for (const [name, attribution, rank, place] of refs) {
      const values = [name, attribution, BigInt(rank), place === null ? null : BigInt(place)];
      await db.run(`INSERT INTO site_refs VALUES (7, $1, $1 || '.example', $2, $3, $4)`, values);
    }
    await db.run("INSERT INTO site_refs VALUES (NULL, 'no id', 'x', 'E', 9, 9)");
    expect(await readModelRows(db, 'sites', 'site_id, name, host, attribution')).toEqual([
      { site_id: '7', name: 'last', host: 'last.example', attribution: 'B' },
    ]);
    await createRefs();
    await db.run(`INSERT INTO site_refs VALUES (7, 'a', 'a', 'A', 1, NULL), (7, 'b', 'b', 'B', 1, 1)`);
    expect(await readModelRows(db, 'sites', 'name, attribution')).toEqual([{ name: 'b', attribution: 'B' }]);
  });

  test('with another name or host get a new row, beside those of other sites', async () => {
    const other = { ...known, site_id: 8, name: 'Other' };
    for (const [name, host] of [
      ['Store', 'shop.example'],
      ['Shop', 'store.example'],
    ]) {
      await loadRows(db, 'sites', 'sites', [known, other]);
      await createRefs();
      await db.run(`INSERT INTO site_refs VALUES (7, '${name}', '${host}', 'CC BY 4.0', 1, 1)`);
      const columns = 'site_id, name, host, attribution, is_current, CAST(valid_to AS VARCHAR) AS until';
      expect(await readModelRows(db, 'sites', columns)).toEqual([
        { ...shop, is_current: 'false', until: shown(12) },
        { ...shop, name, host, is_current: 'true', until: null },
        { ...shop, site_id: '8', name: 'Other', is_current: 'true', until: null },
      ]);
    }
  });

  test('keep when rows of the past ended', async () => {
    const past = { ...known, valid_from: at(0), valid_to: at(1), is_current: false };
    await sitesAfter([past], [[7, 'Shop', 'CC BY 4.0', 1]]);
    expect(await readModelRows(db, 'sites', 'is_current, CAST(valid_to AS VARCHAR) AS until, run_id')).toEqual([
      { is_current: 'false', until: shown(1), run_id: 'earlier run' },
      { is_current: 'true', until: null, run_id: 'this run' },
    ]);
  });

  test('keep a licence text that only some rows show', async () => {
    const rows = await sitesAfter(
      [known],
      [
        [7, 'Shop', 'CC BY 4.0', 1],
        [7, 'Shop', null, 2],
      ],
    );
    expect(rows).toHaveLength(1);
  });
});
