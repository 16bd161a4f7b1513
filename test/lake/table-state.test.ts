import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { decodeApplied, encodeApplied } from '../../src/lake/table-state.js';
import type { Applied } from '../../src/tables/table.js';
import { add, CREATED, makeBareLake, txn, writeEntry } from './log-writer.js';

const APPLIED: Applied = {
  run: 7n,
  cursor: 2n ** 60n + 1n,
  ahead: 2n ** 60n + 9n,
  polledAt: 1_700_000_000_000_001n,
  datasets: { isList: true, ids: [3n, 2n ** 53n + 1n] },
  itemsVersion: 0n,
  query: 2n ** 48n - 1n,
  declared: 2n ** 48n - 2n,
  day: 20_458n,
  firstDay: 20_454n,
  accepted: 11n,
};

type Entries = readonly (readonly [string, bigint])[];
const logOf = (...commits: Entries[]) =>
  new Map(commits.flat().map(([appId, version]) => [appId, { version }] as const));

// I1 of SPEC.md
test('the state that a commit records is what the next run reads', () => {
  expect(decodeApplied(logOf(encodeApplied(APPLIED, logOf())))).toEqual(APPLIED);
});

test('the names in the log equal those of existing lakes', () => {
  expect(Object.fromEntries(encodeApplied(APPLIED, logOf()))).toEqual({
    'pricelake.run': 7n,
    'pricelake.cursor': 2n ** 60n + 1n,
    'pricelake.webhook': 2n ** 60n + 9n,
    'pricelake.polled': 1_700_000_000_000_001n,
    'pricelake.datasets': 2n,
    'pricelake.dataset.3': 1n,
    'pricelake.dataset.9007199254740993': 1n,
    'pricelake.items': 0n,
    'pricelake.told': 2n ** 48n - 2n,
    'pricelake.query': 2n ** 48n - 1n,
    'pricelake.day': 20_458n,
    'pricelake.day.first': 20_454n,
    'pricelake.accepted': 11n,
  });
});

test('an older or empty log is read as an empty state', () => {
  expect(decodeApplied(logOf())).toEqual({
    run: undefined,
    cursor: undefined,
    ahead: 0n,
    polledAt: 0n,
    datasets: { isList: false, ids: [] },
    itemsVersion: undefined,
    query: undefined,
    day: 0n,
    firstDay: undefined,
    accepted: undefined,
  });
  expect(decodeApplied(logOf([['com.example.stream', 5n]]))).toEqual(decodeApplied(logOf()));
});

test('a commit writes only what differs from the log', () => {
  const log = logOf(encodeApplied(APPLIED, logOf()));
  expect(encodeApplied(APPLIED, log)).toEqual([]);
  expect(encodeApplied({ cursor: undefined, run: 8n }, log)).toEqual([['pricelake.run', 8n]]);
  // Zero means the same as an absent value.
  expect(encodeApplied({ ahead: 0n, polledAt: 0n, day: 0n }, logOf())).toEqual([]);
  expect(encodeApplied({ polledAt: 0n }, log)).toEqual([['pricelake.polled', 0n]]);
});

test('a dataset that the key lost is marked, and restored when it is readable again', () => {
  const before = logOf(encodeApplied(APPLIED, logOf()));
  const lost = encodeApplied({ datasets: { isList: false, ids: [3n] } }, before);
  expect(lost).toEqual([
    ['pricelake.datasets', 0n],
    ['pricelake.dataset.9007199254740993', 0n],
  ]);
  const after = logOf(
    [...before].map(([appId, { version }]) => [appId, version] as const),
    lost,
  );
  expect(decodeApplied(after).datasets).toEqual({ isList: false, ids: [3n] });
  expect(encodeApplied({ datasets: { isList: false, ids: APPLIED.datasets.ids } }, after)).toEqual([
    ['pricelake.dataset.9007199254740993', 1n],
  ]);
});

test("a table that doesn't exist yet has no version, files or differences", async () => {
  expect(await readTable(await makeBareLake(), 'items')).toEqual({
    table: 'items',
    version: -1n,
    files: [],
    applied: expect.objectContaining({ cursor: undefined, ahead: 0n }),
    difference: { missing: [], unknown: [], retyped: [] },
    hasOlderFiles: false,
  });
});

test('files are sorted by path, whatever the order of the log, and include the recorded state', async () => {
  const lake = await makeBareLake();
  const names = ['c', 'a', 'd', 'b'].map((name) => `${name}.parquet`);
  await writeEntry(lake, 0n, [...CREATED, ...names.map((name) => add(name)), txn('pricelake.cursor', 7)]);
  const state = await readTable(lake, 'items');
  expect(state.files.map(({ path }) => path)).toEqual([...names].sort());
  // Files without a checksum are another program's.
  expect([state.version, state.applied.cursor, state.hasOlderFiles]).toEqual([0n, 7n, true]);
});
