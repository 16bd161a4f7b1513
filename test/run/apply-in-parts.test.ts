import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RowsInParts } from '../../src/run/apply/rows-in-parts.js';
import { at, change, item, type ModelWorld, openModels, type Row, read } from '../apply/model-world.js';
import { createSeeded } from '../seeded.js';

const { graph, play, readTexts } = await openModels();

const openThree = async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'parts-'));
  return new RowsInParts(graph, { folder, count: 3, key: 'item_id' });
};

const ODD_IDS = [-5n, 0n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n];

/** Random items that change, are read completely, are stale, gone or renamed. */
function makeWorld(seed: number): ModelWorld {
  const { fraction, integer, pick } = createSeeded(seed);
  const chance = (share: number) => fraction() < share;
  const int = (least: number, most: number) => least + integer(most - least + 1);
  const ids = [...ODD_IDS, ...Array.from({ length: 36 }, (_, index) => BigInt(index + 1))];
  const some = (share: number, row: (item_id: bigint) => Row) => ids.filter(() => chance(share)).map(row);
  const changes = some(0.9, (item_id) => ({ item_id }))
    .flatMap((row) => Array.from({ length: int(1, 4) }, () => row))
    .map((row, place) => {
      const kind = pick(['NEW', 'CHANGED', 'CHANGED', 'REMOVED', 'RELISTED', 'MERGED']);
      const changes = pick(['{"price":[10,11]}', '{"title":["A","B"]}', null]);
      return change({ ...row, change_id: 101 + place, kind, changes, observed_at: at(int(4, 11)), price: int(1, 20) });
    });
  return {
    base: some(0.7, (item_id) => item({ item_id, last_changed_at: at(int(2, 6)), is_listed: chance(0.8) })),
    different: ids.filter(() => chance(0.1)),
    reread: some(0.5, (item_id) => read({ item_id, price: int(1, 20), last_changed_at: at(int(2, 11)) })),
    missing: some(0.1, (item_id) => item({ item_id })),
    stale: some(0.2, (item_id) => ({
      item_id,
      reason: 'older',
      change_id: 90,
      observed_at: at(3),
      first_read_at: at(4),
    })),
    history: some(0.3, (item_id) => change({ item_id, change_id: int(90, 99), observed_at: at(3) })),
    renamed: chance(0.5) ? [{ site_id: 7, name: 'Renamed', host: 'new.example' }] : [],
    watermark: 100,
    changes: [...changes, change({ item_id: null, change_id: 1000 })],
  };
}

test.each([1, 2, 3, 4, 5, 6])(
  'changes applied in several parts give the same rows as in one part, world %i',
  async (seed) => {
    const world = makeWorld(seed);
    const whole = await play(world);
    const divided = await play(world, await openThree());
    for (const rows of ['needed', 'judged', 'applied'] as const) {
      const expected = await readTexts(whole[rows]);
      expect(expected.length).toBeGreaterThan(2);
      expect(await readTexts(divided[rows])).toEqual(expected);
    }
  },
);

test('several parts without rows give no rows', async () => {
  const divided = await play({}, await openThree());
  for (const rows of ['needed', 'judged', 'applied'] as const) expect(await readTexts(divided[rows])).toEqual([]);
});
