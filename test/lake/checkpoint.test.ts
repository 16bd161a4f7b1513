import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanLog } from '../../src/lake/checkpoint.js';
import { convertToCheckpoint, readCheckpoint } from '../../src/lake/checkpoint-file.js';
import { commitTable } from '../../src/lake/commit.js';
import { hashFile } from '../../src/lake/data-file.js';
import { readLog } from '../../src/lake/delta-log.js';
import { readTable } from '../../src/lake/read.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import type { TableState } from '../../src/tables/table.js';
import { AT, glob, ITEM, makeFolder, makeLake, openDatabase, readRows, select, write } from './fixture.js';

const CURSOR = 9223372036854775000n;

/** The lake as seen by a process that hasn't replayed its logs yet. */
const reopen = (lake: Lake): Lake => ({ ...lake });

/** Ten rewrites of one partition each on top of a first version. */
async function writeVersions(count: number): Promise<Lake> {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(30) AS r(i)'), applied: { cursor: CURSOR } });
  for (let version = 1; version < count; version += 1) {
    const site = String(version % 3);
    const remove = (await readTable(lake, 'items')).files.filter((file) => file.partitionValues.site_id === site);
    const source = select('items', { ...ITEM, title: `'${version}'` }, `range(30) AS r(i) WHERE i % 3 = ${site}`);
    const at = new Date(AT.getTime() + version * 600_000);
    await write(db, lake, { select: source, remove, applied: { cursor: CURSOR + BigInt(version) }, at });
  }
  return reopen(lake);
}

async function readWithout(lake: Lake, part: RegExp): Promise<TableState> {
  const log = tablePath(lake, 'items', '_delta_log');
  for (const name of await readdir(log)) if (part.test(name)) await rm(join(log, name));
  return readTable(reopen(lake), 'items');
}

test('reading from a checkpoint equals replaying the whole log', async () => {
  const lake = await writeVersions(13);
  const withCheckpoint = await readLog(lake, 'items');
  expect(withCheckpoint.checkpoint).toBe(10n);
  const state = await readTable(lake, 'items');
  expect(state.applied.cursor).toBe(CURSOR + 12n);
  const pointer = JSON.parse(await readFile(tablePath(lake, 'items', '_delta_log', '_last_checkpoint'), 'utf8'));
  expect(pointer).toMatchObject({ version: 10, numOfAddFiles: 3 });

  expect(await readWithout(lake, /checkpoint/)).toEqual({ ...state, checkpoint: undefined });
  const replayed = await readLog(reopen(lake), 'items');
  expect({ ...withCheckpoint.metaData, name: undefined }).toEqual({ ...replayed.metaData, name: undefined });
  expect(withCheckpoint.protocol).toEqual(replayed.protocol);
});

test('a checkpoint with a changed bit is refused, even if it is readable with another cursor', async () => {
  const lake = await writeVersions(11);
  const path = tablePath(lake, 'items', '_delta_log', '00000000000000000010.checkpoint.parquet');
  const bytes = await readFile(path);
  const lines = await readCheckpoint(path);
  let isOther = false;
  for (let at = 4; at < bytes.length && !isOther; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await writeFile(path, changed);
    const read = await readCheckpoint(path).catch(() => lines);
    isOther = JSON.stringify(read) !== JSON.stringify(lines);
  }
  expect(isOther).toBe(true);
  await expect(readTable(reopen(lake), 'items')).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${path}: the checkpoint changed since it was written: its checksum differs`,
    facts: { hint: expect.stringContaining('`pricelake lake rebuild`') },
  });
});

test('the pointer to a checkpoint records its actions, files and bytes, and no temporary file remains', async () => {
  const [db, lake] = [await openDatabase(), await writeVersions(11)];
  const log = tablePath(lake, 'items', '_delta_log');
  const path = join(log, '00000000000000000010.checkpoint.parquet');
  const [row] = await db.rows(`SELECT count(*) AS actions, count(add) AS files, count(remove) FILTER (WHERE
    remove.dataChange) AS tombstones FROM read_parquet('${path}')`);
  // Protocol, metadata, run and cursor, three files, and the files removed in the last hour.
  expect(row).toEqual({ actions: 12n, files: 3n, tombstones: 6n });
  expect(JSON.parse(await readFile(join(log, '_last_checkpoint'), 'utf8'))).toEqual({
    version: 10,
    size: 12,
    sizeInBytes: (await stat(path)).size,
    numOfAddFiles: 3,
    tags: { 'pricelake.sha256': await hashFile(path) },
  });
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
});

test('a table is read from its checkpoint after the earlier entries are deleted', async () => {
  const lake = await writeVersions(12);
  const state = await readTable(lake, 'items');
  expect(state.version).toBe(11n);
  expect(await readWithout(lake, /^0{19}\d\.json$|_last_checkpoint/)).toEqual(state);
});

test('a checkpoint keeps null and non-ASCII partition values, and paths that need encoding', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const from = `(VALUES (NULL), ('a b/c%'), ('日本 🛒'), ('"quote"')) AS v(brand)`;
  const source = select(
    'products',
    { product_id: "'p'", brand: 'brand', offers: '1', shops: '1', run_id: "'r'" },
    from,
  );
  for (let version = 0; version < 11; version += 1) {
    const remove = (await readTable(lake, 'products')).files;
    await write(db, lake, {
      table: 'products',
      select: source,
      partitionBy: ['brand'],
      remove,
      applied: { run: BigInt(version) },
    });
  }
  const state = await readTable(lake, 'products');
  expect((await readLog(reopen(lake), 'products')).checkpoint).toBe(10n);
  expect(new Set(state.files.map((file) => file.partitionValues.brand))).toEqual(
    new Set([null, 'a b/c%', '日本 🛒', '"quote"']),
  );
  const log = tablePath(lake, 'products', '_delta_log');
  for (const name of await readdir(log)) if (name.includes('checkpoint')) await rm(join(log, name));
  expect(await readTable(lake, 'products')).toEqual(state);
});

test('the documented globs skip checkpoints, and a deeper glob fails instead of mixing them with rows', async () => {
  const lake = await writeVersions(11);
  const db = await openDatabase();
  expect(await readRows(db, glob(lake, 'items/*.parquet'))).toHaveLength(30);
  await expect(readRows(db, glob(lake, 'items/**/*.parquet'))).rejects.toThrow(/schema mismatch/i);
});

/** One action of each kind, with every field that a checkpoint has a column for. */
const ACTIONS = [
  { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
  {
    metaData: {
      id: 'm',
      name: 'n',
      description: 'd',
      format: { provider: 'parquet', options: { a: 'b' } },
      schemaString: '{}',
      partitionColumns: ['site_id', 'brand'],
      createdTime: 1_763_600_000_000,
      configuration: { 'delta.appendOnly': 'false' },
    },
  },
  { txn: { appId: 'run', version: 2 ** 53 - 1, lastUpdated: 5 } },
  {
    add: {
      path: 'a%20b.parquet',
      partitionValues: { site_id: '7', brand: null },
      size: 10,
      modificationTime: 1,
      dataChange: true,
      stats: '{"numRecords":1}',
      tags: { sha256: 'ab' },
    },
  },
  { remove: { path: 'c', deletionTimestamp: 9, dataChange: true } },
];

/** A checkpoint in a folder whose name has special characters for DuckDB. */
async function convert(actions: object[]): Promise<string> {
  const folder = await makeFolder("it's [a]*");
  const [lines, path] = [join(folder, 'l.json'), join(folder, 'c.parquet')];
  await writeFile(lines, actions.map((action) => `${JSON.stringify(action)}\n`).join(''));
  await convertToCheckpoint(lines, path);
  return path;
}

const withoutNulls = (line: string) =>
  Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([, value]) => value !== null));

test('every field of every action is read back from a checkpoint, in order', async () => {
  const lines = await readCheckpoint(await convert(ACTIONS));
  expect(lines.map(withoutNulls)).toEqual(ACTIONS);
});

test('a checkpoint has one column for each kind of action and is compressed with Snappy', async () => {
  const [db, path] = [await openDatabase(), await convert(ACTIONS.slice(0, 1))];
  const source = `'${path.replaceAll("'", "''").replaceAll(/[[*]/g, '[$&]')}'`;
  const columns = await db.rows(`SELECT name FROM parquet_schema(${source}) WHERE num_children > 0`);
  for (const name of ['txn', 'add', 'remove', 'metaData', 'protocol']) expect(columns).toContainEqual({ name });
  const codecs = await db.rows(`SELECT DISTINCT compression FROM parquet_metadata(${source})`);
  expect(codecs).toEqual([{ compression: 'SNAPPY' }]);
});

test.each([
  { what: 'superseded files are deleted at once', retentionMs: 0, kept: 101 },
  { what: 'superseded files are kept for a day', retentionMs: 86_400_000, kept: 131 },
])(
  'the log of a table keeps about a hundred entries after any number of writes if $what',
  async ({ retentionMs, kept }) => {
    const lake = await makeLake();
    const log = tablePath(lake, 'datasets', '_delta_log');
    for (let version = 0n; version <= 130n; version += 1n) {
      const at = new Date(AT.getTime() + Number(version) * 60_000);
      const change = { table: 'datasets' as const, add: [], remove: [], applied: { run: version } };
      await commitTable(lake, change, { runId: 'r', operation: 'TEST', at, retentionMs });
    }
    const entries = (await readdir(log)).filter((name) => /^\d+\.json$/u.test(name));
    expect(entries).toHaveLength(kept);
    expect((await readTable(lake, 'datasets')).version).toBe(130n);
  },
);

test('log entries before a checkpoint that is 30 days old are deleted, and the table is still readable', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const log = tablePath(lake, 'items', '_delta_log');
  await write(db, lake, { select: select('items', ITEM, 'range(9) AS r(i)') });
  for (let version = 1n; version <= 40n; version += 1n) {
    const at = new Date(AT.getTime() + Number(version) * 86_400_000);
    const change = { table: 'items' as const, add: [], remove: [], applied: { run: version } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at });
  }
  const versions = (await readdir(log))
    .filter((name) => /^\d/.test(name))
    .map((name) => [Number(name.slice(0, 20)), name.slice(21)]);
  const entries = versions.filter(([, suffix]) => suffix === 'json').map(([version]) => version);
  const checkpoints = versions.filter(([, suffix]) => suffix === 'checkpoint.parquet').map(([version]) => version);
  expect(entries.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 31 }, (_, i) => 10 + i));
  expect(checkpoints.sort()).toEqual([10, 20, 30, 40]);
  const state = await readTable(lake, 'items');
  expect([state.version, state.applied.run, state.files.length]).toEqual([40n, 40n, 3]);
});

const DAY = 86_400_000;

/** Cleans a log whose entries were committed this many days ago, and returns the remaining files. A checkpoint outside `committed` has no entry. */
async function cleanWritten(committed: Record<number, number | undefined>, checkpoints: number[], retentionMs = 0) {
  const lake = await makeLake();
  const folder = tablePath(lake, 'items', '_delta_log');
  await mkdir(folder, { recursive: true });
  const path = (version: number, suffix: string) => join(folder, `${String(version).padStart(20, '0')}.${suffix}`);
  for (const [version, days] of Object.entries(committed)) {
    const timestamp = days === undefined ? undefined : AT.getTime() - days * DAY;
    const lines = [{ protocol: {} }, { commitInfo: { timestamp } }].map((line) => JSON.stringify(line));
    await writeFile(path(Number(version), 'json'), lines.join('\n'));
  }
  for (const version of checkpoints) await writeFile(path(version, 'checkpoint.parquet'), '');
  await writeFile(join(folder, '_last_checkpoint'), '');
  await cleanLog(lake, 'items', AT, retentionMs);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).sort();
  expect(await readdir(folder)).toContain('_last_checkpoint');
  return names.map((name) => `${Number(name.slice(0, 20))}${name.endsWith('.parquet') ? ' checkpoint' : ''}`);
}

test('a log is cut at the newest checkpoint that is at least 30 days old, to the millisecond', async () => {
  const ages = { 9: 40, 10: 35, 19: 31, 20: 30, 21: 2, 30: 1 };
  expect(await cleanWritten(ages, [10, 20, 30])).toEqual(['20 checkpoint', '20', '21', '30 checkpoint', '30']);
  const younger = { ...ages, 20: 30 - 1 / DAY };
  expect(await cleanWritten(younger, [10, 20, 30])).toHaveLength(8);
});

test('a log is cut at a checkpoint a hundred versions back once its superseded files exceed the retention', async () => {
  const ages = { 9: 3, 10: 3, 20: 1, 110: 0 };
  const kept = ['10 checkpoint', '10', '20 checkpoint', '20', '110'];
  expect(await cleanWritten(ages, [10, 20], 3 * DAY)).toEqual(kept);
  expect(await cleanWritten(ages, [10, 20], 3 * DAY + 1)).toHaveLength(6);
  expect(await cleanWritten({ 9: 3, 10: 3, 20: 1, 109: 0 }, [10, 20])).toHaveLength(6);
});

test("a checkpoint whose entry is missing or has no commit time doesn't cut the log", async () => {
  expect(await cleanWritten({ 9: 50, 30: 0 }, [10])).toEqual(['9', '10 checkpoint', '30']);
  expect(await cleanWritten({ 9: 50, 10: undefined, 30: 0 }, [10])).toHaveLength(4);
  expect(await cleanWritten({ 9: 50, 10: 40 }, [])).toHaveLength(2);
});
