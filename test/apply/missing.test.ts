import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/sql/connection.js';
import { readModel } from '../../src/sql/model.js';
import { loadRows } from '../load-rows.js';
import { at, fullItem, openModels, type Row, readTexts, shown } from './model-world.js';

let db: Database;
beforeAll(async () => {
  db = await openModels();
});
afterAll(() => db.close());

/** Rows of the lake that a copy lacks, as texts; `readable`: names of the datasets that the key can read. */
async function missing(lake: Row[], exported: Row[], readable: string[] | null = null) {
  await loadRows(db, 'items', 'items', lake);
  await loadRows(db, 'exported_items', 'items', exported);
  await db.run(`SET VARIABLE readable_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(readable)]);
  return readTexts(db, `(${readModel('missing')})`);
}

describe('an item that a complete copy lacks', () => {
  test('is marked gone as of the reading, and nothing else in its row changes', async () => {
    const [row, ...others] = await missing([fullItem({}), fullItem({ item_id: 2 })], [fullItem({ item_id: 2 })]);
    expect(others).toEqual([]);
    const [before] = await readTexts(db, 'items');
    expect(row).toEqual({ ...before, gone_at: shown(12), is_listed: 'false', run_id: 'this run' });
  });

  test('keeps when it went', async () => {
    expect(await missing([fullItem({ gone_at: at(6) })], [])).toEqual([]);
  });

  test.each<[string, string | null, string[] | null, boolean]>([
    ['goes while all datasets can be read', '[a, b]', null, true],
    ['goes while all of its own can be read', '[a, b]', ['b', 'a', 'c'], true],
    ['stays while one of its own can not', '[a, b]', ['a', 'c'], false],
    ['stays while none can be read', '[a, b]', [], false],
    ['goes when it is in none', '[]', ['c'], true],
    ['goes when its datasets are unknown', null, ['c'], true],
  ])('%s', async (_name, datasets, readable, isGone) => {
    expect(await missing([fullItem({ datasets })], [], readable)).toHaveLength(isGone ? 1 : 0);
  });
});
