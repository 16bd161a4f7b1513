import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { add, CREATED, META_DATA, makeBareLake, PROTOCOL, txn, writeEntry } from './log-writer.js';

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
  expect([state.version, state.applied.cursor, state.hasOlderFiles]).toEqual([0n, 7n, false]);
});

test('a table has older files where a column is missing in its log, or where the log says so', async () => {
  const schema = JSON.parse(META_DATA.schemaString) as { fields: { name: string }[] };
  schema.fields = schema.fields.filter(({ name }) => name !== 'gtin14');
  for (const [metaData, missing] of [
    [{ ...META_DATA, schemaString: JSON.stringify(schema) }, ['gtin14']],
    [{ ...META_DATA, configuration: { 'pricelake.olderFiles': 'true' } }, []],
  ] as const) {
    const lake = await makeBareLake();
    await writeEntry(lake, 0n, [PROTOCOL, { metaData }]);
    expect(await readTable(lake, 'items')).toMatchObject({ hasOlderFiles: true, difference: { missing } });
  }
});
