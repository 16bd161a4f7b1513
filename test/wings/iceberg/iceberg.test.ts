import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCompact } from '../../../src/cli/actions/run-compact.js';
import { runRebuild } from '../../../src/cli/actions/run-rebuild.js';
import { openLake } from '../../../src/lake/lake.js';
import { readTable, readTableAt } from '../../../src/lake/read.js';
import { Database } from '../../../src/sql/connection.js';
import { quoteLiteral } from '../../../src/sql/quote.js';
import { TABLE_NAMES, type TableName } from '../../../src/tables/table.js';
import { syncWithWings } from '../../../src/wings/index.js';
import { openContext } from '../../cli/open-context.js';
import { openWorld, testIo, type World } from '../../run/world.js';
import { readFiles, readMetadata } from './read-metadata.js';

const HOUR_MS = 3_600_000;
let world: World;
let db: Database;
let warnings: unknown[];

beforeAll(async () => {
  world = await openWorld({ items: 150, sites: 3, pastDays: 2 });
  world.pipeline.lake.retention = 24 * HOUR_MS;
  world.pipeline.lake.iceberg = true;
  db = await Database.open();
});
afterAll(async () => {
  db.close();
  await world.close();
});

const io = {
  ...testIo,
  now: () => new Date(Date.now() + world.clock.days * 24 * HOUR_MS),
  log: (level: string, event: string, facts?: object) => void (level === 'warn' && warnings.push({ event, ...facts })),
};

async function move(): Promise<void> {
  await world.sandbox.advance({ hours: 5, changes: 20 });
}

async function sync(): Promise<void> {
  warnings = [];
  await syncWithWings(world.pipeline, io);
}

/** A run whose process ends before the metadata is written. */
async function syncAlone(): Promise<void> {
  const { iceberg } = world.pipeline.lake;
  world.pipeline.lake.iceberg = false;
  await sync();
  world.pipeline.lake.iceberg = iceberg;
}

const folderOf = (table: TableName) => path.join(world.lakePath, 'iceberg', table, 'metadata');
const openFound = () => openLake(world.lakePath, { create: false });

/** Each snapshot names exactly the files of its version, with their rows, and the newest is the version that readers of Delta see. */
async function expectSame(): Promise<void> {
  const lake = await openFound();
  for (const table of TABLE_NAMES) {
    const metadata = readMetadata(folderOf(table));
    const newest = await readTable(lake, table);
    expect(metadata['current-snapshot-id']).toBe(Number(newest.version) + 1);
    for (const snapshot of metadata.snapshots) {
      const { files } = await readTableAt(lake, table, BigInt(snapshot['snapshot-id'] - 1));
      const found = readFiles(snapshot, world.lakePath);
      const sizes = files.map((file) => [path.join(world.lakePath, table, file.path), file.rows, BigInt(file.bytes)]);
      expect(found.map(({ path, rows, bytes }) => [path, rows, bytes]).sort()).toEqual(sizes.sort());
      for (const file of found) expect(readFileSync(file.path).length).toBe(Number(file.bytes));
    }
  }
}

it('has a snapshot for each version, also of a run that ended before the metadata', async () => {
  await sync();
  await move();
  await sync();
  await move();
  await syncAlone();
  await expect(expectSame()).rejects.toThrow();
  await move();
  await sync();
  expect(warnings).toEqual([]);
  await expectSame();
  const { snapshots } = readMetadata(folderOf('items'));
  expect(snapshots.map((one) => one['snapshot-id'])).toEqual([1, 2, 3, 4]);
  expect(snapshots.map((one) => one['parent-snapshot-id'])).toEqual([undefined, 1, 2, 3]);
  expect(snapshots.at(-1)?.summary).toMatchObject({ operation: 'overwrite', 'delta.version': '3' });
  expect(readMetadata(folderOf('runs')).snapshots.at(-1)?.summary.operation).toBe('append');
});

it('has bounds, null counts and partition values that hold for the rows', async () => {
  for (const file of readFiles(readMetadata(folderOf('items')).snapshots.at(-1), world.lakePath)) {
    const [row] = await db.rows(
      `SELECT min(item_id) AS low, max(item_id) AS high, min(site_id) AS site, count(*) - count(gtin) AS nulls,
        min(price) AS price, min(is_listed) AS listed, max(title) AS title FROM read_parquet(${quoteLiteral(file.path)})`,
    );
    expect([file.lower.get(1)?.readBigInt64LE(), file.upper.get(1)?.readBigInt64LE()]).toEqual([row?.low, row?.high]);
    expect(file.nulls.get(5)).toBe(row?.nulls);
    expect(file.partition).toEqual({ site_id: row?.site });
    expect(file.lower.get(20)?.readBigInt64LE()).toBe(row?.site);
    expect(BigInt(`0x${file.lower.get(8)?.toString('hex')}`)).toBe(
      (row?.price as { value: bigint } | undefined)?.value,
    );
    expect(file.lower.get(29)).toEqual(Buffer.from([row?.listed === true ? 1 : 0]));
    expect(file.upper.get(2)?.compare(Buffer.from(String(row?.title)))).toBeGreaterThanOrEqual(0);
    // A list has no bounds.
    expect(file.lower.has(19)).toBe(false);
  }
});

it('writes nothing where nothing is new', async () => {
  const before = readdirSync(folderOf('items'));
  await sync();
  expect(readdirSync(folderOf('items'))).toEqual(before);
});

it.each([
  ['is gone', (folder: string) => rmSync(folder, { recursive: true })],
  ['is no JSON', (folder: string) => writeFileSync(path.join(folder, newestName(folder)), '{')],
  ['lacks its hint, as after a crash', (folder: string) => rmSync(path.join(folder, 'version-hint.text'))],
  ['lacks its manifests', (folder: string) => removeAvro(folder)],
])('is made again with the next run if it %s', async (_, damage) => {
  damage(folderOf('items'));
  await move();
  await sync();
  expect(warnings).toEqual([]);
  await expectSame();
});

const newestName = (folder: string) => `v${readFileSync(path.join(folder, 'version-hint.text'), 'utf8')}.metadata.json`;

function removeAvro(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.avro')) rmSync(path.join(folder, name));
}

it('drops snapshots before their files are deleted', async () => {
  world.clock.days = 0.5;
  await move();
  await sync();
  expect(readMetadata(folderOf('items')).snapshots.length).toBeGreaterThan(1);
  world.clock.days = 1.6;
  // A run that is stopped before its end: it has deleted files that no version needs any more.
  await move();
  world.intercept = () => {
    throw new Error('stopped');
  };
  await expect(sync()).rejects.toThrow();
  world.intercept = undefined;
  expect(readMetadata(folderOf('items')).snapshots).toHaveLength(1);
  await expectSame();
  await sync();
  await expectSame();
  const names = readdirSync(folderOf('items')).filter((name) => name.startsWith('snap-'));
  expect(names).toHaveLength(readMetadata(folderOf('items')).snapshots.length);
});

it('says where other machines see the files', async () => {
  world.pipeline.lake.iceberg = 's3://bucket/lake';
  await sync();
  const metadata = readMetadata(folderOf('items'));
  expect(metadata.location).toBe('s3://bucket/lake/iceberg/items');
  const [file] = readFiles(metadata.snapshots.at(-1), world.lakePath, 's3://bucket/lake');
  expect(file?.address).toMatch(/^s3:\/\/bucket\/lake\/items\/site_id-\d+\.[^/]+\.parquet$/);
  world.pipeline.lake.iceberg = true;
});

it('begins again where the folder of the lake has moved', async () => {
  const { retention, iceberg } = world.pipeline.lake;
  world.renew(world.lakePath);
  Object.assign(world.pipeline.lake, { retention, iceberg });
  await move();
  await sync();
  expect(readMetadata(folderOf('items')).location).toBe(`file://${folderOf('items').replace(/\/metadata$/, '')}`);
  await expectSame();
});

it('never fails a run', async () => {
  rmSync(path.join(world.lakePath, 'iceberg'), { recursive: true });
  writeFileSync(path.join(world.lakePath, 'iceberg'), '');
  await move();
  await sync();
  expect(warnings).toEqual(
    Array.from({ length: 2 }, () => ({ event: 'iceberg.missed', reason: expect.stringContaining('ENOTDIR') })),
  );
  rmSync(path.join(world.lakePath, 'iceberg'));
  await sync();
  await expectSame();
});

it('follows commands that get only the folder of the lake', async () => {
  const { location } = readMetadata(folderOf('items'));
  const context = openContext(true);
  await runCompact({ lake: world.lakePath }, context);
  await expectSame();
  await runRebuild({ lake: world.lakePath }, context);
  await expectSame();
  expect(readMetadata(folderOf('items')).location).toBe(location);
});
