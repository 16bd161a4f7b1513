import { cp, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { Database } from '../../src/duckdb/connection.js';
import { openLake } from '../../src/lake/lake.js';
import { readPointer } from '../../src/lake/pointer.js';
import { readTable } from '../../src/lake/read.js';
import { createTableViews } from '../../src/lake/views.js';
import { syncPipeline } from '../../src/sync/sync.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { optimize } from '../lake/foreign-writer.js';
import { useHiveFolders } from '../lake/hive-folders.js';
import { writeOlderLake } from './older-lake.js';
import { openWorld, readItems, readTruth, testIo, type World } from './world.js';

let world: World;
/** A lake after two runs as an older version laid it out; the service has not moved on since. */
let original: string;
let truth: Map<string, string[]>;

beforeAll(async () => {
  world = await openWorld({ items: 20, sites: 2, limits: { historyDays: 2 } });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  truth = await readTruth(world.sandbox);
  original = path.join(world.folder, 'original');
  await cp(world.lakePath, original, { recursive: true });
  await useHiveFolders(original);
});
afterAll(() => world.close());
beforeEach(() => world.renew(original));

/** Data files on disk, by table. */
async function listFiles(table: string): Promise<string[]> {
  // A table that an older version had no rows for has no folder.
  const names = await readdir(path.join(world.lakePath, table), { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.parquet') && !name.startsWith('_')).sort();
}

async function expectFlat(): Promise<void> {
  const lake = await openLake(world.lakePath, { create: false });
  for (const table of TABLE_NAMES) {
    const { files } = await readTable(lake, table);
    expect(await listFiles(table)).toEqual(files.map((file) => file.path));
    for (const file of files) expect(file.path).not.toMatch(/[/=]/);
  }
}

async function expectSound(): Promise<void> {
  await runVerify({ lake: world.lakePath }, openContext());
}

/** Rows of all tables through the logs. */
async function readTables(tables: readonly TableName[] = TABLE_NAMES): Promise<string[]> {
  const db = await Database.open();
  try {
    await createTableViews(db, await openLake(world.lakePath, { create: false }));
    const all: string[] = [];
    for (const table of tables) {
      const rows = await db.rows(`SELECT to_json(t)::VARCHAR AS line FROM ${table} AS t ORDER BY 1`);
      all.push(...rows.map(({ line }) => `${table} ${line}`));
    }
    return all;
  } finally {
    await db.close();
  }
}

test('folder names: a lake with folders of an older version opens and verifies as it stands', async () => {
  expect(await listFiles('items')).toContainEqual(expect.stringMatching(/^site_id=\d+\//));
  expect(await listFiles('history')).toContainEqual(expect.stringMatching(/^observed_date=\d{4}-\d\d-\d\d\//));
  expect(await readTables(['items'])).toHaveLength(truth.size);
  await runVerify({ lake: world.lakePath }, openContext());
});

test('folder names: a sync takes the files out of their folders first, without a byte written, also where nothing is new', async () => {
  const before = await readTables();
  const inodes = async () =>
    new Set(
      await Promise.all(
        (await listFiles('items')).map(async (name) => (await stat(path.join(world.lakePath, 'items', name))).ino),
      ),
    );
  const found = await inodes();
  expect((await world.sync()).published).toBe(false);
  expect(await inodes()).toEqual(found);
  await expectFlat();
  await expectSound();
  expect(await readTables()).toEqual(before);
  expect(await readItems(world.lakePath)).toEqual(truth);
  const lake = await openLake(world.lakePath, { create: false });
  const { version } = await readTable(lake, 'items');
  await world.sync();
  expect((await readTable(lake, 'items')).version).toBe(version);
});

test.each(['compact', 'rebuild'])('folder names: %s renames the folders of an older version', async (command) => {
  const action = command === 'compact' ? runCompact : runRebuild;
  await action({ lake: world.lakePath }, openContext());
  await expectFlat();
  expect(await readItems(world.lakePath)).toEqual(truth);
});

test('folder names: a process that dies between two tables leaves each whole; the next sync goes on', async () => {
  const dying = {
    ...testIo,
    log: (_level: string, event: string) => {
      if (event === 'lake.flattened') throw new Error('the process dies');
    },
  };
  const before = await readTables();
  await expect(syncPipeline(world.pipeline, dying)).rejects.toThrow();
  expect(await readTables()).toEqual(before);
  const lake = await openLake(world.lakePath, { create: false });
  const isMixed = (await readTable(lake, 'items')).files.some((file) => file.path.includes('/'));
  expect([isMixed, (await readTable(lake, 'history')).files.some((file) => file.path.includes('/'))]).toEqual([
    true,
    false,
  ]);
  await world.sync();
  await expectFlat();
  expect(await readTables()).toEqual(before);
});

test('folder names: files that are older than a column keep what they lack, and verify says so', async () => {
  const older = path.join(world.folder, 'older');
  await writeOlderLake(original, older, { items: ['gone_at'], history: ['url'] });
  await useHiveFolders(older);
  world.renew(older);
  await world.sync();
  await expectFlat();
  await expectSound();
  const lake = await openLake(world.lakePath, { create: false });
  expect((await readTable(lake, 'items')).hasOlderFiles).toBe(true);
  expect(await readTables(['items'])).toHaveLength(truth.size);
});

test('folder names: files that another program wrote, in folders or without columns, are written again as ours', async () => {
  await world.sync();
  const tables = ['items', 'history', 'sites'] as const;
  const before = await readTables(tables);
  for (const table of tables) await optimize(world.lakePath, table);
  await world.sync();
  await expectFlat();
  await expectSound();
  expect(await readTables(tables)).toEqual(before);
  expect(await readItems(world.lakePath)).toEqual(truth);
  const lake = await openLake(world.lakePath, { create: false });
  for (const table of tables) {
    for (const { sha256 } of (await readTable(lake, table)).files) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('an empty table is readable by glob, with its columns and types, until its first rows come', async () => {
  world.renew();
  await world.sync();
  const lake = await openLake(world.lakePath, { create: false });
  const db = await Database.open();
  try {
    await createTableViews(db, lake);
    let empty = 0;
    for (const table of TABLE_NAMES) {
      const glob = `read_parquet('${world.lakePath}/${table}/*.parquet')`;
      const describe = async (relation: string) =>
        (await db.rows(`DESCRIBE SELECT * FROM ${relation}`)).map((row) => [row.column_name, row.column_type]);
      expect(await describe(glob)).toEqual(await describe(table));
      const row = await db.row(`SELECT count(*) AS n FROM ${glob}`);
      if (row?.n === 0n) empty += 1;
    }
    expect(empty).toBeGreaterThan(0);
  } finally {
    await db.close();
  }
  await expectFlat();
  expect((await readPointer(lake))?.tables.rejects).toMatchObject({ rows: 0n, files: [{ rows: 0n }] });
  const { files } = await readTable(lake, 'rejects');
  await world.sandbox.advance({ hours: 1, changes: 5 });
  await world.sync();
  expect((await readTable(lake, 'rejects')).files).toEqual(files);
});

test('folder names: with a retention the version before keeps its names until its files are old enough', async () => {
  world.pipeline.lake.retention = 48 * 3_600_000;
  await world.sandbox.advance({ hours: 1, changes: 3 });
  await world.sync();
  truth = await readTruth(world.sandbox);
  await useHiveFolders(world.lakePath);
  const before = await listFiles('items');
  await world.sync();
  const after = await listFiles('items');
  for (const name of before) expect(after).toContain(name);
  world.clock.days += 3;
  await world.sync();
  world.clock.days = 0;
  expect((await listFiles('items')).filter((name) => name.includes('/'))).toEqual([]);
});
