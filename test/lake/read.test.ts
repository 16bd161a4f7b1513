import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { add, CREATED, makeBareLake, txn, writeEntry } from './log-writer.js';

test('a table that is not there yet has no version, no file and no difference', async () => {
  expect(await readTable(await makeBareLake(), 'items')).toEqual({
    table: 'items',
    version: -1n,
    files: [],
    applied: expect.objectContaining({ cursor: undefined, ahead: 0n }),
    difference: { missing: [], unknown: [], retyped: [] },
    hasOlderFiles: false,
    checkpoint: undefined,
    foreign: [],
  });
});

test('files are in the order of their paths, whatever the order of the log; what was noted comes with them', async () => {
  const lake = await makeBareLake();
  const names = ['c', 'a', 'd', 'b'].map((name) => `${name}.parquet`);
  await writeEntry(lake, 0n, [...CREATED, ...names.map((name) => add(name)), txn('pricelake.cursor', 7)]);
  const state = await readTable(lake, 'items');
  expect(state.files.map(({ path }) => path)).toEqual([...names].sort());
  // Without a checksum they are another program's.
  expect([state.version, state.applied.cursor, state.hasOlderFiles]).toEqual([0n, 7n, true]);
});
