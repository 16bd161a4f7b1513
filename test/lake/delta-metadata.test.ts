import { expect, test } from 'vitest';
import {
  compareColumns,
  describeOtherTypes,
  nameColumns,
  refuseOtherTypes,
  refuseUnknownColumns,
} from '../../src/lake/column-difference.js';
import type { MetaData } from '../../src/lake/delta-actions.js';
import { keepsOlderFiles, planMetaData, readRetentionMs, readTombstoneMs } from '../../src/lake/delta-metadata.js';
import { readDeltaColumns, writeDeltaSchema } from '../../src/lake/delta-schema.js';
import type { LogState } from '../../src/lake/log-state.js';
import { PRICELAKE_VERSION } from '../../src/lake/version.js';
import type { TableSchema } from '../../src/tables/schemas.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { DataFile, StagedFile, TableChange, TableState } from '../../src/tables/table.js';
import { AT } from './fixture.js';

const HOUR = 3_600_000;
const schema = loadTableSchema('items');
const file = (path: string, partitionValues: Record<string, string | null> = { site_id: '1' }): StagedFile => ({
  path,
  stagedAt: path,
  rows: 1n,
  bytes: 1,
  partitionValues,
  stats: '{}',
  modifiedAt: 1,
});

function stateOf(metaData: MetaData | undefined, files: DataFile[] = []): LogState {
  return {
    table: 'items',
    version: 0n,
    checkpoint: undefined,
    protocol: undefined,
    metaData,
    files: new Map(files.map((one) => [one.path, one])),
    tombstones: new Map(),
    txn: new Map(),
    foreign: [],
  };
}

const change = (more: Partial<TableChange> = {}): TableChange => ({
  table: 'items',
  add: [],
  remove: [],
  applied: {},
  ...more,
});
const plan = (state: LogState, wanted = change(), retentionMs?: number, contract: TableSchema = schema) =>
  planMetaData(state, contract, wanted, { at: AT, retentionMs });
const create = (retentionMs?: number): MetaData => plan(stateOf(undefined), change(), retentionMs) as MetaData;
/** The contract before it had its last columns. */
const older = (count = 1): TableSchema => ({ ...schema, columns: schema.columns.slice(0, -count) });
const olderData = () => ({ ...create(), schemaString: writeDeltaSchema(older()) });

test('a new table says what it is', () => {
  const metaData = create();
  expect(metaData).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    description: schema.description,
    format: { provider: 'parquet', options: {} },
    schemaString: writeDeltaSchema(schema),
    partitionColumns: ['site_id'],
    configuration: { 'delta.deletedFileRetentionDuration': 'interval 1 hours' },
    createdTime: AT.getTime(),
  });
  expect(plan(stateOf(undefined), change({ add: [file('a', {}), file('b', {})] }))?.partitionColumns).toEqual([]);
});

test('superseded files are kept in whole hours; tombstones for one at least', () => {
  const kept = [0, 1, HOUR, HOUR + 1].map((ms) => create(ms));
  expect(kept.map(readRetentionMs)).toEqual([0, HOUR, HOUR, 2 * HOUR]);
  expect(kept.map(readTombstoneMs)).toEqual([HOUR, HOUR, HOUR, 2 * HOUR]);
  expect(kept.map(({ configuration }) => configuration)).toEqual([
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours' },
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours', 'pricelake.retentionHours': '1' },
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours', 'pricelake.retentionHours': '1' },
    { 'delta.deletedFileRetentionDuration': 'interval 2 hours', 'pricelake.retentionHours': '2' },
  ]);
  expect([readRetentionMs(undefined), readTombstoneMs(undefined), keepsOlderFiles(undefined)]).toEqual([
    0,
    HOUR,
    false,
  ]);
});

test('a commit rewrites what a table is only if something differs, and keeps its id, its date and foreign properties', () => {
  const old = { ...create(2 * HOUR), createdTime: 5, configuration: { ...create(2 * HOUR).configuration, other: 'x' } };
  expect(plan(stateOf(old))).toBeUndefined();
  expect(plan(stateOf(old), change(), 2 * HOUR)).toBeUndefined();
  expect(plan(stateOf(old), change({ add: [file('a')] }))).toBeUndefined();
  expect(plan(stateOf(old), change(), 0)).toEqual({
    ...old,
    configuration: { 'delta.deletedFileRetentionDuration': 'interval 1 hours', other: 'x' },
  });
  expect(plan(stateOf({ ...old, description: 'x' }))).toEqual(old);
  expect(plan(stateOf({ ...old, partitionColumns: ['currency'] }), change({ add: [file('a')] }))).toEqual(old);
  // A rename leaves all as it is.
  expect(plan(stateOf({ ...old, description: 'x' }), change({ isRename: true }))).toBeUndefined();
  expect(plan(stateOf({ ...old, description: 'x' }), change({ isRename: false }))).toEqual(old);
});

test('a table that gains columns notes that files without them stay, until all are replaced', () => {
  const [a, b] = [file('a'), file('b')];
  const gained = plan(stateOf(olderData(), [a, b]), change({ remove: [a] }));
  expect(gained).toMatchObject({
    schemaString: writeDeltaSchema(schema),
    configuration: { 'pricelake.olderFiles': 'true' },
  });
  expect(keepsOlderFiles(gained)).toBe(true);
  expect(plan(stateOf(gained, [a, b]), change({ add: [a] }))).toBeUndefined();
  const replaced = plan(stateOf(gained, [a, b]), change({ add: [file('c')], remove: [a, b] }));
  expect(replaced?.configuration).not.toHaveProperty('pricelake.olderFiles');
  expect(keepsOlderFiles(replaced)).toBe(false);
  expect(plan(stateOf(olderData(), [a]), change({ remove: [a] }))?.configuration).not.toHaveProperty(
    'pricelake.olderFiles',
  );
  expect(plan(stateOf(create(), [a, b]), change({ remove: [a] }))).toBeUndefined();
});

test('another partitioning is refused while files of the old one stay', () => {
  const [a, b] = [file('a'), file('b')];
  const wanted = (remove: DataFile[]) => change({ add: [file('c', { currency: 'EUR', site_id: '1' })], remove });
  expect(() => plan(stateOf(create(), [a, b]), wanted([a]))).toThrow(
    expect.objectContaining({
      code: 'config',
      message: 'items is partitioned by [site_id], not by [currency, site_id]',
      facts: { hint: 'Go back to the old setting, or run `pricelake rebuild`.' },
    }),
  );
  const replaced = plan(stateOf(create(), [a, b]), wanted([a, b]));
  expect(replaced?.partitionColumns).toEqual(['currency', 'site_id']);
  expect(() => plan(stateOf(replaced, [a, b]), change({ add: [a] }))).toThrow(
    'items is partitioned by [currency, site_id], not by [site_id]',
  );
  const odd = change({ add: [file('c'), file('d', {}), file('e', {})] });
  expect(() => plan(stateOf(create()), odd)).toThrow(new TypeError('items: staged by site_id and by '));
});

test('files with columns that the contract lacks, or of other types, may not stay', () => {
  const a = file('a');
  const stays = (metaData: MetaData, contract = schema) => plan(stateOf(metaData, [a]), change(), undefined, contract);
  const [last, before] = [schema.columns.at(-1)?.name, schema.columns.at(-2)?.name];
  expect(() => stays(create(), older(2))).toThrow(
    expect.objectContaining({
      code: 'lake_invalid',
      message: `items has other columns than schemas/items.yaml: ${before}, ${last}`,
      facts: { hint: 'Go back to the old setting, or run `pricelake rebuild`.' },
    }),
  );
  const retyped = { ...create(), schemaString: create().schemaString.replace('"decimal(18,4)"', '"double"') };
  expect(() => stays(retyped)).toThrow('items has other columns than schemas/items.yaml: price');
});

test('columns are compared by name and type, in any order', () => {
  const { columns } = schema;
  const mixed = { ...schema, columns: columns.toReversed() };
  expect(compareColumns(schema, writeDeltaSchema(mixed))).toEqual({ missing: [], unknown: [], retyped: [] });
  const other = writeDeltaSchema(older()).replace('"decimal(18,4)"', '"double"').replace('"item_id"', '"x"');
  const found = compareColumns(schema, other);
  expect(found).toEqual({
    missing: ['item_id', columns.at(-1)?.name],
    unknown: ['x'],
    retyped: [{ name: 'price', has: 'double', wants: 'decimal(18,4)' }],
  });
  const said = `column price is double, schemas/items.yaml of pricelake ${PRICELAKE_VERSION} says decimal(18,4)`;
  expect(describeOtherTypes('items', found)).toBe(said);
  expect(describeOtherTypes('items', { ...found, retyped: [...found.retyped, ...found.retyped] })).toBe(
    `${said}; ${said}`,
  );
  expect([nameColumns(['a']), nameColumns(['a', 'b'])]).toEqual(['column a', 'columns a, b']);
});

test('a Delta schema has all columns nullable, with their descriptions, and lists as types of their own', () => {
  const text = writeDeltaSchema(schema);
  const { type, fields } = JSON.parse(text) as { type: string; fields: unknown[] };
  const [first] = schema.columns;
  expect([type, fields.length]).toEqual(['struct', schema.columns.length]);
  expect(fields[0]).toEqual({
    name: first?.name,
    type: 'long',
    nullable: true,
    metadata: { comment: first?.description },
  });
  const columns = readDeltaColumns(text);
  expect([...columns.keys()]).toEqual(schema.columns.map(({ name }) => name));
  expect(columns.get('datasets')).toMatch(/^\{"type":"array","elementType":"string"/);
});

test('a table with columns of a newer version is refused by name', () => {
  const state = (unknown: string[]) =>
    ({ table: 'items', difference: { missing: [], unknown, retyped: [] } }) as unknown as TableState;
  refuseUnknownColumns({ root: '/lake' }, [state([])]);
  expect(() => refuseUnknownColumns({ root: '/lake' }, [state([]), state(['a', 'b'])])).toThrow(
    expect.objectContaining({
      code: 'lake_invalid',
      message: `/lake/items: a newer version wrote it; pricelake ${PRICELAKE_VERSION} does not know its columns a, b and would lose their values`,
      facts: { hint: 'Use the version that wrote the lake, or a newer one. Nothing was changed.' },
    }),
  );
});

test('a table with columns of another type is refused with both types', () => {
  const state = (retyped: object[]) =>
    ({ table: 'items', difference: { missing: [], unknown: [], retyped } }) as unknown as TableState;
  refuseOtherTypes({ root: '/lake' }, state([]));
  expect(() => refuseOtherTypes({ root: '/lake' }, state([{ name: 'price', has: 'double', wants: 'string' }]))).toThrow(
    expect.objectContaining({
      code: 'lake_invalid',
      message: `/lake/items: column price is double, schemas/items.yaml of pricelake ${PRICELAKE_VERSION} says string; no value is read as another type`,
      facts: { hint: expect.stringContaining('pricelake rebuild') },
    }),
  );
});
