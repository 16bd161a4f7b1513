import { expect, test } from 'vitest';
import { explainBehind } from '../../src/lake/compare-published.js';
import type { Pointer } from '../../src/lake/pointer.js';

const lake = { root: '/lake' };
const pointerTo = (version: bigint, ...paths: string[]) =>
  ({ tables: { items: { version, files: paths.map((path) => ({ path })) } } }) as unknown as Pointer;
const explain = (version: bigint, paths: string[], pointer?: Pointer) =>
  explainBehind(lake, { table: 'items', version, paths }, pointer);

test('a log that lake.json does not name, or that is ahead of it, has not fallen behind', () => {
  expect(explain(0n, [])).toBeUndefined();
  expect(explain(0n, [], { tables: {} } as Pointer)).toBeUndefined();
  expect(explain(4n, ['b'], pointerTo(3n, 'items/a'))).toBeUndefined();
});

test('a log whose last entries are gone has', () => {
  expect(explain(2n, [], pointerTo(3n))).toBe('/lake/items: its log ends at version 2, lake.json names version 3');
});

test('a log of the same version has when its files are not the same', () => {
  const pointer = pointerTo(3n, 'items/a', 'items/b');
  expect(explain(3n, ['b', 'a'], pointer)).toBeUndefined();
  for (const paths of [['a'], ['a', 'c'], ['a', 'b', 'c'], []]) {
    expect(explain(3n, paths, pointer)).toBe(
      `/lake/items: version 3 of its log has ${paths.length} files, lake.json names 2, or others`,
    );
  }
});
