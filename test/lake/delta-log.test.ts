import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { findVersions, logPath, readEntry, readLog } from '../../src/lake/delta-log.js';
import { SEAL, sealEntry } from '../../src/lake/log-seal.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import { AT } from './fixture.js';
import { add, CREATED, META_DATA, makeBareLake, OURS, PROTOCOL, remove, txn, writeEntry } from './log-writer.js';

const HINT = '`pricelake lake rebuild` rebuilds the tables from the saved raw data.';
const paths = ({ files }: { files: Map<string, unknown> }) => [...files.keys()];

test('only complete file names of one suffix count as versions, in order', () => {
  const names = [12, 2, 111].map((version) => `${String(version).padStart(20, '0')}.json`);
  const others = [
    '00000000000000000003.checkpoint.parquet',
    '.00000000000000000004.json.crc',
    'x00000000000000000005.json',
    '000000000000000000006.json',
    '00000000000000000007json',
    '0000000000000000000a.json',
    '_last_checkpoint',
  ];
  expect(findVersions([...names, ...others], 'json')).toEqual([2n, 12n, 111n]);
  expect(findVersions([...names, ...others], 'checkpoint.parquet')).toEqual([3n]);
});

test('a replay adds, removes and re-adds files, and keeps the last values', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a%20b'), add('b'), add('c'), txn('x', 1, 11)]);
  await writeEntry(lake, 1n, [remove('a%20b', 5), remove('b'), remove('c', 6), txn('x', 2), txn('y', 3, 33)]);
  await writeEntry(lake, 2n, [add('c', 9)]);
  const state = await readLog(lake, 'items');
  expect(paths(state)).toEqual(['c']);
  expect(state.files.get('c')?.rows).toBe(9n);
  expect(state.tombstones).toEqual(
    new Map([
      ['a b', 5],
      ['b', 0],
    ]),
  );
  expect(state.txn).toEqual(
    new Map([
      ['x', { version: 2n, lastUpdated: 0 }],
      ['y', { version: 3n, lastUpdated: 33 }],
    ]),
  );
  expect(state).toMatchObject({ version: 2n, metaData: META_DATA, ...PROTOCOL });
});

test("a state that was returned doesn't change when the log continues", async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a'), add('b')]);
  const first = await readLog(lake, 'items');
  const before = structuredClone(first);
  await writeEntry(lake, 1n, [remove('a', 5), txn('x', 1)], { engineInfo: 'other', operation: 'DELETE' });
  const second = await readLog(lake, 'items');
  expect(first).toEqual(before);
  expect(second).toEqual(await readLog({ ...lake }, 'items'));
  expect(paths(second)).toEqual(['b']);
});

test('a log can be read up to a version, and Spark’s checksum files are ignored', async () => {
  const lake = await makeBareLake();
  for (let version = 0n; version < 4n; version += 1n) {
    const file = await writeEntry(lake, version, [...(version === 0n ? CREATED : []), add(`f${version}`)]);
    await writeFile(file.replace(/(\d{20}\.json)$/, '.$1.crc'), 'x');
  }
  const states = await Promise.all([0n, 2n, 9n].map((until) => readLog(lake, 'items', { until })));
  expect(states.map(({ version }) => version)).toEqual([0n, 2n, 3n]);
  expect(states.map(paths)).toEqual([['f0'], ['f0', 'f1', 'f2'], ['f0', 'f1', 'f2', 'f3']]);
});

/** Writes a log with checkpoints at 10 and 20 whose last version is 21. */
async function writeCheckpoints(): Promise<Lake> {
  const lake = await makeBareLake();
  for (let run = 0n; run <= 21n; run += 1n) {
    const change = { table: 'items' as const, add: [], remove: [], applied: { run } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: AT });
  }
  return { ...lake };
}

test('a replay starts at the newest checkpoint that keeps the requested versions in the log', async () => {
  const lake = await writeCheckpoints();
  const read = async (range: { since?: bigint; until?: bigint }) => {
    const { checkpoint, version, txn } = await readLog(lake, 'items', range);
    return [checkpoint, version, txn.get('pricelake.run')?.version];
  };
  expect(await read({})).toEqual([20n, 21n, 21n]);
  expect(await read({ since: 15n })).toEqual([10n, 21n, 21n]);
  expect(await read({ since: 10n })).toEqual([10n, 21n, 21n]);
  expect(await read({ since: 9n })).toEqual([undefined, 21n, 21n]);
  expect(await read({ until: 20n })).toEqual([20n, 20n, 20n]);
  expect(await read({ until: 19n })).toEqual([10n, 19n, 19n]);
  expect(await read({ until: 9n })).toEqual([undefined, 9n, 9n]);
  expect(await read({ since: 10n, until: 20n })).toEqual([10n, 20n, 20n]);
  // The entries before the first checkpoint are deleted, so a replay can't start earlier.
  for (let version = 0n; version < 10n; version += 1n) await rm(logPath(lake, 'items', version, 'json'));
  expect(await read({ since: 3n })).toEqual([10n, 21n, 21n]);
});

test('a second read starts again at a checkpoint that may contain more than the entries read so far', async () => {
  const lake = await writeCheckpoints();
  const log = tablePath(lake, 'items', '_delta_log');
  expect((await readLog(lake, 'items')).version).toBe(21n);
  const other = await writeCheckpoints();
  for (let run = 22n; run <= 30n; run += 1n) {
    const change = { table: 'items' as const, add: [], remove: [], applied: { run } };
    await commitTable(other, change, { runId: 'r', operation: 'TEST', at: AT });
  }
  // Another program cleaned the log up to its own checkpoint.
  await writeFile(
    `${log}/00000000000000000030.checkpoint.parquet`,
    await readFile(logPath(other, 'items', 30n, 'checkpoint.parquet')),
  );
  const { version, checkpoint } = await readLog(lake, 'items');
  expect([version, checkpoint]).toEqual([30n, 30n]);
});

test('a replaced log with the same number of versions is read again', async () => {
  const lake = await makeBareLake();
  const write = async (name: string) => {
    await writeEntry(lake, 0n, [...CREATED, add(name)]);
    await writeEntry(lake, 1n, [txn('x', 1)]);
  };
  await write('before');
  expect(paths(await readLog(lake, 'items'))).toEqual(['before']);
  await write('after, in a longer entry');
  await writeEntry(lake, 1n, [txn('x', 12)]);
  const state = await readLog(lake, 'items');
  expect([paths(state), state.txn.get('x')?.version]).toEqual([['after, in a longer entry'], 12n]);
});

test('a damaged checkpoint is an error with its file name', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, CREATED);
  const file = logPath(lake, 'items', 0n, 'checkpoint.parquet');
  await writeFile(file, 'not Parquet');
  const error = await readLog(lake, 'items').catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: 'lake_invalid',
    message: `${file}: the checkpoint is damaged`,
    facts: { hint: HINT },
    cause: expect.any(Error),
  });
});

test('a missing version is an error with its number', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, CREATED);
  const file = await writeEntry(lake, 2n, []);
  await expect(readLog(lake, 'items')).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${file}: version 1 is missing`,
    facts: { hint: HINT },
  });
});

test.each([
  ['a line that is no JSON', '{"add":', 'line 4 is damaged', { line: 4, hint: HINT }],
  [
    'a file without a path',
    '{"add":{"stats":"x"}}',
    'line 4 is damaged: add.path is missing or has the wrong type',
    { line: 4, hint: HINT },
  ],
  [
    'a file whose statistics are not JSON',
    '{"add":{"path":"a","size":1,"modificationTime":1,"partitionValues":{},"stats":"x"}}',
    'line 4 is damaged',
    { line: 4, hint: HINT },
  ],
])('%s is an error with its place', async (_what, line, message, facts) => {
  const lake = await makeBareLake();
  const file = await writeEntry(lake, 0n, CREATED);
  await appendFile(file, `${line}\n`);
  const error = await readLog(lake, 'items').catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: 'lake_invalid',
    message: `${file}: ${message}`,
    facts,
    cause: expect.any(Error),
  });
});

test('an entry is refused if it was truncated between two lines, or if its text or checksum was altered', async () => {
  const lake = await makeBareLake();
  const lines = [...CREATED, txn('pricelake.run', 1)].map((action) => JSON.stringify(action));
  const whole = await writeEntry(lake, 0n, []);
  const sealed = sealEntry(OURS, lines);
  await writeFile(whole, sealed);
  expect(await readEntry(whole)).toHaveLength(4);
  for (const text of [
    sealEntry(OURS, lines).replace(`${lines.at(-1)}\n`, ''),
    sealed.replace('pricelake.run', 'pricelake.ran'),
    sealed.replace(SEAL, 'pricelake.entrySha255'),
  ]) {
    await writeFile(whole, text);
    await expect(readEntry(whole)).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${whole}: changed since it was written: its checksum differs`,
      facts: { hint: HINT },
    });
  }
  // Other programs write no checksums.
  await writeFile(whole, CREATED.map((action) => JSON.stringify(action)).join('\n\n'));
  expect(await readEntry(whole)).toHaveLength(2);
  await writeFile(whole, '');
  expect(await readEntry(whole)).toEqual([]);
});

test.each([
  ['no protocol', [CREATED[1]]],
  ['no columns', [PROTOCOL]],
])('a log with %s is an error', async (_what, actions) => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, actions as Record<string, unknown>[]);
  await expect(readLog(lake, 'items')).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${tablePath(lake, 'items')}: its log has no metaData or no protocol`,
    facts: { hint: HINT },
  });
});

test.each([
  [{ minReaderVersion: 2, minWriterVersion: 2 }, 'reader 2, writer 2; pricelake'],
  [{ minReaderVersion: 1, minWriterVersion: 3 }, 'reader 1, writer 3; pricelake'],
  [{ minReaderVersion: 3, minWriterVersion: 7, readerFeatures: [] }, 'reader 3, writer 7; pricelake'],
  [{ minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ['a', 'b'] }, 'reader 3, writer 7 (a, b); pricelake'],
])('an unsupported protocol is refused: %o', async (protocol, words) => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, CREATED);
  await writeEntry(lake, 1n, [], { operation: 'OPTIMIZE', engineInfo: 'other 1' });
  const folder = tablePath(lake, 'items');
  const raised = [{ protocol }];
  await writeEntry(lake, 2n, raised, { operation: 'UPGRADE', engineInfo: 'other 2' });
  await expect(readLog(lake, 'items')).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${folder}: version 2 (UPGRADE by other 2) raised the table to Delta ${words} supports 1 and 2`,
    facts: { hint: HINT },
  });
  await writeEntry(lake, 2n, raised);
  await expect(readLog({ ...lake }, 'items')).rejects.toThrow(/version 2 \(.* by pricelake\/.*\) raised the table/);
});
