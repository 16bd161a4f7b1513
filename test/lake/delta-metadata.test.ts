import { expect, test } from 'vitest';
import { PRICELAKE_VERSION } from '../../src/io/package-path.js';
import { refuseOtherColumns, refuseUnreadable, writeDeltaSchema } from '../../src/lake/column-difference.js';
import type { LogState, MetaData } from '../../src/lake/delta-actions.js';
import { planMetaData, readRetentionMs, readTombstoneMs } from '../../src/lake/delta-metadata.js';
import { loadTableSchema, type TableSchema } from '../../src/tables/schemas.js';
import type { DataFile, FileChange, StagedFile, TableState } from '../../src/tables/table.js';
import { AT } from './fixture.js';

const HOUR = 3_600_000;
const schema = loadTableSchema('items');
const CONTRACT = `schemas/items.yaml of pricelake ${PRICELAKE_VERSION}`;
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
  };
}

const change = (more: Partial<FileChange> = {}): FileChange => ({
  table: 'items',
  add: [],
  remove: [],
  applied: {},
  ...more,
});
const plan = (state: LogState, wanted = change(), retentionMs?: number, contract: TableSchema = schema) =>
  planMetaData(state, contract, wanted, { at: AT, retentionMs });
const create = (retentionMs?: number): MetaData => plan(stateOf(undefined), change(), retentionMs) as MetaData;
/** The schema without its last columns. */
const without = (count = 1): TableSchema => ({ ...schema, columns: schema.columns.slice(0, -count) });

test('a new table declares its description, format, schema and partition columns', () => {
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

test('retention is recorded in whole hours, and tombstones are kept for at least one hour', () => {
  const kept = [0, 1, HOUR, HOUR + 1].map((ms) => create(ms));
  expect(kept.map(readRetentionMs)).toEqual([0, HOUR, HOUR, 2 * HOUR]);
  expect(kept.map(readTombstoneMs)).toEqual([HOUR, HOUR, HOUR, 2 * HOUR]);
  expect(kept.map(({ configuration }) => configuration)).toEqual([
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours' },
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours', 'pricelake.retentionHours': '1' },
    { 'delta.deletedFileRetentionDuration': 'interval 1 hours', 'pricelake.retentionHours': '1' },
    { 'delta.deletedFileRetentionDuration': 'interval 2 hours', 'pricelake.retentionHours': '2' },
  ]);
  expect([readRetentionMs(undefined), readTombstoneMs(undefined)]).toEqual([0, HOUR]);
});

test('a commit rewrites the metadata only if something differs, and keeps the id, date and foreign properties', () => {
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
});

test('another partitioning is refused while files of the old one remain', () => {
  const [a, b] = [file('a'), file('b')];
  const wanted = (remove: DataFile[]) => change({ add: [file('c', { currency: 'EUR', site_id: '1' })], remove });
  expect(() => plan(stateOf(create(), [a, b]), wanted([a]))).toThrow(
    expect.objectContaining({
      code: 'config',
      message: 'items is partitioned by [site_id], not by [currency, site_id]',
      facts: { hint: 'Restore the old setting, or run `pricelake lake rebuild`.' },
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

test('files whose columns differ from the schema may not remain', () => {
  const a = file('a');
  const stays = (metaData: MetaData, contract = schema) => plan(stateOf(metaData, [a]), change(), undefined, contract);
  const [last, before] = [schema.columns.at(-1)?.name, schema.columns.at(-2)?.name];
  expect(() => stays(create(), without(2))).toThrow(
    expect.objectContaining({
      code: 'lake_invalid',
      message: `items: it has columns ${before}, ${last}, which ${CONTRACT} doesn't define`,
      facts: { hint: 'Restore the old setting, or run `pricelake lake rebuild`.' },
    }),
  );
  const lacking = { ...create(), schemaString: writeDeltaSchema(without()) };
  expect(() => stays(lacking)).toThrow(`items: it lacks column ${last}, which ${CONTRACT} defines`);
  expect(plan(stateOf(lacking, [a]), change({ remove: [a] }))?.schemaString).toBe(writeDeltaSchema(schema));
});

test('a table with other columns is refused, but a reader ignores unknown columns', () => {
  const lake = { root: '/lake' };
  const state = (more: object) =>
    ({ table: 'items', difference: { missing: [], unknown: [], retyped: [], ...more } }) as unknown as TableState;
  refuseOtherColumns(lake, [state({})]);
  for (const difference of [{ missing: ['a'] }, { retyped: [{ name: 'price', has: 'double', wants: 'string' }] }]) {
    const refusal = { code: 'lake_invalid', facts: { hint: expect.stringMatching(/^Rebuild the tables/) } };
    expect(() => refuseOtherColumns(lake, [state({}), state(difference)])).toThrow(expect.objectContaining(refusal));
    expect(() => refuseUnreadable(lake, state(difference))).toThrow(expect.objectContaining(refusal));
  }
  refuseUnreadable(lake, state({ unknown: ['a'] }));
  expect(() => refuseOtherColumns(lake, [state({ unknown: ['a'] })])).toThrow(
    `/lake/items: it has column a, which ${CONTRACT} doesn't define`,
  );
});
