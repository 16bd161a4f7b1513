import { describe, expect, test } from 'vitest';
import { at, fullItem, openModels, type Row, shown } from './model-world.js';

const { bind, graph, readTexts } = await openModels();

/** Rows of the lake that a copy lacks, as texts; `readable`: names of the datasets that the key can read. */
const missing = (lake: Row[], exported: Row[], readable: string[] | null = null) =>
  readTexts(bind('missing', { items: lake, exported_items: exported }, { readable_datasets: readable }));

describe('an item that a complete copy lacks', () => {
  test('is marked gone as of the reading, and nothing else in its row changes', async () => {
    const [row, ...others] = await missing([fullItem({}), fullItem({ item_id: 2 })], [fullItem({ item_id: 2 })]);
    expect(others).toEqual([]);
    const [before] = await readTexts(graph.load('items', 'items', [fullItem({})]));
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
