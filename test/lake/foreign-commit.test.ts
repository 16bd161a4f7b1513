import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { PricelakeError } from '../../src/io/errors.js';
import { writeCheckpoint } from '../../src/lake/checkpoint.js';
import { logPath, readLog } from '../../src/lake/delta-log.js';
import {
  findForeignChanges,
  isRepairedByCopy,
  markAccepted,
  refuseForeignChanges,
} from '../../src/lake/foreign-changes.js';
import { type ForeignCommit, findForeignCommits } from '../../src/lake/foreign-commit.js';
import { readEntriesBackwards } from '../../src/lake/log-entries.js';
import type { Pointer } from '../../src/lake/pointer.js';
import { readTable } from '../../src/lake/read.js';
import type { TableName } from '../../src/tables/table.js';
import { add, CREATED, type LogAction, META_DATA, makeBareLake, OURS, remove, txn, writeEntry } from './log-writer.js';

const OTHER = { engineInfo: 'delta-rs:py-1.6.6', operation: 'DELETE' };

/** Describes the second entry of a log whose first entry has the files a (1 row) and b (2 rows). */
async function describe(actions: LogAction[], info: LogAction = OTHER): Promise<ForeignCommit | undefined> {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a', 1), add('b%20b', 2)]);
  await writeEntry(lake, 1n, actions, info);
  return (await findForeignCommits(lake, 'items', 0n))[0];
}
const moved = (action: LogAction): LogAction => {
  const [[kind, value]] = Object.entries(action) as [[string, object]];
  return { [kind]: { ...value, dataChange: false } };
};
const uncounted: LogAction = {
  add: { path: 'x', partitionValues: {}, size: 1, modificationTime: 1, dataChange: false },
};

test('a commit by another program is foreign, and is described by its operation and engine', async () => {
  expect(await describe([], OURS)).toBeUndefined();
  expect(await describe([], OTHER)).toEqual({
    table: 'items',
    version: 1n,
    operation: 'DELETE',
    engine: 'delta-rs:py-1.6.6',
    change: undefined,
  });
  expect(await describe([], {})).toMatchObject({ operation: 'unknown', engine: 'unknown' });
  expect(await describe([], { engineInfo: '', operation: 7 })).toMatchObject({
    operation: 'unknown',
    engine: 'unknown',
  });
  expect(await describe([], { engineInfo: ' ~\u001b[31mä', operation: 'x'.repeat(61) })).toMatchObject({
    engine: ' ~?[31m?',
    operation: 'x'.repeat(60),
  });
  expect(await describe([], { engineInfo: 'not pricelake/1', operation: 'A' })).toMatchObject({ operation: 'A' });
});

test.each<[string, LogAction[], string | undefined]>([
  ['nothing', [], undefined],
  [
    'rows replaced',
    [remove('a'), remove('b%20b'), add('c', 2)],
    'changed rows: 3 rows became 2 in the files that it replaced',
  ],
  ['rows added', [add('c', 2)], 'changed rows: 0 rows became 2 in the files that it replaced'],
  ['rows moved', [moved(remove('a')), moved(remove('b%20b')), moved(add('c', 3))], undefined],
  ['some moved', [moved(remove('a')), add('c', 1)], 'changed rows: 1 rows became 1 in the files that it replaced'],
  ['rows lost', [moved(remove('b%20b')), moved(add('c', 1))], 'claims that no rows changed, but 2 rows became 1'],
  ['rows uncounted', [moved(remove('a')), uncounted], 'claims that no rows changed, but 1 rows became unknown'],
  [
    'an unknown file',
    [moved(remove('z')), moved(add('c', 1))],
    'claims that no rows changed, but unknown rows became 1',
  ],
  ['neither counted', [moved(remove('z')), uncounted], 'claims that no rows changed, but unknown rows became unknown'],
])('a foreign commit is described by its effect on rows: %s', async (_what, actions, change) => {
  expect((await describe(actions))?.change).toBe(change);
});

const metaData = (more: object): LogAction => ({ metaData: { ...META_DATA, ...more } });
const fields = (...names: string[]) =>
  JSON.stringify({
    type: 'struct',
    fields: names.map((name) => ({ name, type: 'string', nullable: true, metadata: {} })),
  });

test('another program may change properties, comments and column order, but not columns, types or layout', async () => {
  const change = async (more: object) => (await describe([metaData(more)]))?.change;
  const schema = JSON.parse(META_DATA.schemaString) as { fields: { name: string; metadata: object }[] };
  const commented = schema.fields.map((field) => ({ ...field, metadata: { comment: 'mine' } }));
  const schemaString = JSON.stringify({ ...schema, fields: commented.reverse() });
  expect(await change({ description: 'mine', configuration: { a: 'b' }, schemaString })).toBeUndefined();
  expect(await change({ schemaString: fields('a') })).toBe('changed the columns');
  expect(await change({ schemaString: META_DATA.schemaString.replace('"timestamp"', '"string"') })).toBe(
    'changed the columns',
  );
  expect(await change({ partitionColumns: [] })).toBe('changed the partition columns');
  expect(await change({ configuration: { 'delta.columnMapping.mode': 'none' } })).toBeUndefined();
  expect(await change({ configuration: { 'delta.columnMapping.mode': 'id' } })).toBe('set column mapping to id');
});

test('a row change is reported before a column change, and the first commit as creating the table', async () => {
  expect((await describe([metaData({ partitionColumns: [] }), remove('a')]))?.change).toMatch(/^changed rows/);
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, CREATED, OTHER);
  expect(await findForeignCommits(lake, 'items', -1n)).toMatchObject([{ change: 'created the table', version: 0n }]);
});

test('a commit may name its program in any of its lines, or not at all', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, CREATED);
  const write = async (version: bigint, actions: LogAction[]) =>
    writeFile(logPath(lake, 'items', version, 'json'), actions.map((action) => JSON.stringify(action)).join('\n'));
  await write(1n, [txn('x', 1), { commitInfo: { ...OTHER, timestamp: 7, runId: 'r' } }]);
  await write(2n, [add('a')]);
  expect(await findForeignCommits(lake, 'items', -1n)).toMatchObject([
    { version: 1n, operation: 'DELETE', engine: 'delta-rs:py-1.6.6' },
    { version: 2n, operation: 'unknown', engine: 'unknown' },
  ]);
  const entries = [];
  for await (const entry of readEntriesBackwards(lake, 'items')) entries.push(entry);
  expect(entries).toMatchObject([
    { version: 2n, at: undefined, runId: undefined, operation: '', isOurs: false },
    { version: 1n, at: 7, runId: 'r', operation: 'DELETE', isOurs: false },
    { version: 0n, isOurs: true },
  ]);
});

test('a change that a checkpoint hides is found in the older log entries', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a'), add('b')]);
  await writeEntry(lake, 1n, [remove('a')], OTHER);
  await writeCheckpoint(lake, 'items', new Date());
  await writeEntry(lake, 2n, [remove('b')], OTHER);
  const reopened = { ...lake };
  const state = await readTable(reopened, 'items');
  expect((await readLog(reopened, 'items')).checkpoint).toBe(1n);
  const find = async (pointer: Pointer) =>
    (await findForeignChanges(reopened, [state], pointer)).map(({ version }) => version);
  expect(await find(pointerAt(0n))).toEqual([1n, 2n]);
  expect(await find(pointerAt(1n))).toEqual([2n]);
  expect(await find({ tables: {} } as unknown as Pointer)).toEqual([1n, 2n]);
});

const pointerAt = (version: bigint) => ({ tables: { items: { version, rows: 0n, files: [] } } }) as unknown as Pointer;

test('changes count from the version that the newest run left, or up to which they were repaired', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a'), add('b')]);
  await writeEntry(lake, 1n, [remove('a')], OTHER);
  await writeEntry(lake, 2n, [], OTHER);
  await writeEntry(lake, 3n, [remove('b')], OTHER);
  const find = async (pointer: Pointer | undefined) =>
    (await findForeignChanges(lake, [await readTable(lake, 'items')], pointer)).map(({ version }) => version);
  expect(await find(undefined)).toEqual([1n, 3n]);
  expect(await find(pointerAt(0n))).toEqual([1n, 3n]);
  expect(await find(pointerAt(1n))).toEqual([3n]);
  expect(await find(pointerAt(3n))).toEqual([]);
  await writeEntry(lake, 4n, [txn('pricelake.accepted', 1)]);
  expect(await find(pointerAt(0n))).toEqual([3n]);
  expect(await find(pointerAt(3n))).toEqual([]);
});

const commit = (table: TableName, version: bigint): ForeignCommit => ({
  table,
  version,
  operation: 'DELETE',
  engine: 'other',
  change: 'changed rows',
});
const refusal = (...changes: ForeignCommit[]): PricelakeError => {
  try {
    refuseForeignChanges({ root: '/lake' }, changes);
  } catch (error) {
    return error as PricelakeError;
  }
  return expect.unreachable('not refused');
};

test('a refusal says whether a complete copy repairs the changed tables or a rebuild is needed', () => {
  refuseForeignChanges({ root: '/lake' }, []);
  const one = refusal(commit('products', 7n));
  expect(one).toMatchObject({
    code: 'lake_invalid',
    message: '/lake/products: another program wrote version 7 (DELETE by other), which changed rows',
    facts: { table: 'products', version: '7', operation: 'DELETE', engine: 'other' },
  });
  expect(one.facts.commits).toEqual(['products version 7 (DELETE by other)']);
  expect(one.facts.hint).toBe(
    '`pricelake sync --reconcile` compares everything with the service and repairs differences; `pricelake lake rebuild` rebuilds the tables from the saved raw data.',
  );
  const three = refusal(commit('items', 7n), commit('history', 8n), commit('datasets', 1n));
  expect(three.message).toBe(
    '/lake/items: another program wrote version 7 (DELETE by other), which changed rows; and 2 more such commits',
  );
  expect(three.facts.hint).toBe('`pricelake lake rebuild` rebuilds the tables from the saved raw data.');
  expect(isRepairedByCopy([commit('items', 1n), commit('datasets', 1n), commit('price_spread', 1n)])).toBe(true);
  expect(isRepairedByCopy([commit('items', 1n), commit('runs', 1n)])).toBe(false);
});

test('accepted changes are recorded up to the newest version of each table', () => {
  const changes = [commit('items', 7n), commit('items', 9n), commit('items', 8n), commit('offers', 0n)];
  expect(markAccepted(changes)).toEqual({ items: 9n, offers: 0n });
  expect(markAccepted([])).toEqual({});
});

test('log entries are listed newest first, with their writer, time and effect', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a%20a'), txn('other', 5)]);
  const info = { ...OURS, operation: 'SYNC', timestamp: 12, runId: 'r1' };
  await writeEntry(lake, 1n, [remove('a%20a'), moved(add('b', 4)), txn('other', 5), txn('pricelake.run', 6)], info);
  await writeEntry(lake, 2n, [moved(remove('b')), moved(add('c', 4))], {
    engineInfo: 'x pricelake/',
    timestamp: '12',
    runId: 7,
  });
  const entries = [];
  for await (const entry of readEntriesBackwards(lake, 'items')) entries.push(entry);
  const files = entries.map(({ added }) => added.map(({ path, rows }) => [path, rows]));
  expect(files).toEqual([[['c', 4n]], [['b', 4n]], [['a a', 1n]]]);
  expect(entries.map(({ added: _added, ...entry }) => entry)).toEqual([
    {
      version: 2n,
      at: undefined,
      runId: undefined,
      runNumber: undefined,
      operation: '',
      isOurs: false,
      changesRows: false,
      removed: ['b'],
    },
    {
      version: 1n,
      at: 12,
      runId: 'r1',
      runNumber: 6n,
      operation: 'SYNC',
      isOurs: true,
      changesRows: true,
      removed: ['a a'],
    },
    {
      version: 0n,
      at: undefined,
      runId: undefined,
      runNumber: undefined,
      operation: '',
      isOurs: true,
      changesRows: true,
      removed: [],
    },
  ]);
  const none = [];
  for await (const entry of readEntriesBackwards(lake, 'offers')) none.push(entry);
  expect(none).toEqual([]);
});
