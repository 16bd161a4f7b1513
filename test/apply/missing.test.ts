import { describe, expect, test } from 'vitest';
import { at, fullItem, openModels, type Row, shown } from './model-world.js';

const { bind, graph, readTexts } = await openModels();

/** Rows in the lake that a copy lacks, as texts; `readable` contains the names of the datasets that the key can read. */
const missing = (lake: Row[], exported: Row[], readable: string[] | null = null) =>
  readTexts(bind('missing', { items: lake, exported_items: exported }, { readable_datasets: readable }));

describe('an item that a complete copy lacks', () => {
  test('is marked as gone at the time of the read, and nothing else in its row changes', async () => {
    const [row, ...others] = await missing([fullItem({}), fullItem({ item_id: 2 })], [fullItem({ item_id: 2 })]);
    expect(others).toEqual([]);
    const [before] = await readTexts(graph.load('items', 'items', [fullItem({})]));
    expect(row).toEqual({ ...before, gone_at: shown(12), is_listed: 'false', run_id: 'this run' });
  });

  test('keeps its gone_at if it was already gone', async () => {
    expect(await missing([fullItem({ gone_at: at(6) })], [])).toEqual([]);
  });

  test.each<[string, string | null, string[] | null, boolean]>([
    ['is marked as gone if all datasets can be read', '[a, b]', null, true],
    ['is marked as gone if all of its own datasets can be read', '[a, b]', ['b', 'a', 'c'], true],
    ["isn't marked as gone if one of its own datasets can't be read", '[a, b]', ['a', 'c'], false],
    ["isn't marked as gone if no dataset can be read", '[a, b]', [], false],
    ['is marked as gone if it is in no dataset', '[]', ['c'], true],
    ['is marked as gone if its datasets are unknown', null, ['c'], true],
  ])('%s', async (_name, datasets, readable, isGone) => {
    expect(await missing([fullItem({ datasets })], [], readable)).toHaveLength(isGone ? 1 : 0);
  });
});
