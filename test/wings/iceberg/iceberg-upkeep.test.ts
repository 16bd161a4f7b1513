import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCompact } from '../../../src/cli/actions/run-compact.js';
import { runRebuild } from '../../../src/cli/actions/run-rebuild.js';
import { openContext } from '../../cli/open-context.js';
import { type IcebergWorld, openIcebergWorld } from './iceberg-world.js';
import { readFiles, readMetadata } from './read-metadata.js';

let lake: IcebergWorld;

beforeAll(async () => {
  lake = await openIcebergWorld();
  await lake.sync();
  await lake.move();
  await lake.sync();
});
afterAll(() => lake.world.close());

it('writes nothing if nothing is new', async () => {
  const before = readdirSync(lake.folderOf('items'));
  await lake.sync();
  expect(readdirSync(lake.folderOf('items'))).toEqual(before);
});

it.each([
  ['is gone', (folder: string) => rmSync(folder, { recursive: true })],
  ["isn't JSON", (folder: string) => writeFileSync(path.join(folder, newestName(folder)), '{')],
  ['lacks its hint after a crash', (folder: string) => rmSync(path.join(folder, 'version-hint.text'))],
  ['lacks its manifests', (folder: string) => removeAvro(folder)],
])('is recreated by the next run if it %s', async (_, damage) => {
  damage(lake.folderOf('items'));
  await lake.move();
  await lake.sync();
  expect(lake.warnings).toEqual([]);
  await lake.expectSame();
});

const newestName = (folder: string) => `v${readFileSync(path.join(folder, 'version-hint.text'), 'utf8')}.metadata.json`;

function removeAvro(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.avro')) rmSync(path.join(folder, name));
}

it('drops snapshots before their files are deleted', async () => {
  lake.world.clock.days = 0.5;
  await lake.move();
  await lake.sync();
  expect(readMetadata(lake.folderOf('items')).snapshots.length).toBeGreaterThan(1);
  lake.world.clock.days = 1.6;
  // A run that is stopped before its end, after it deleted files that no version needs any longer.
  await lake.move();
  lake.world.intercept = () => {
    throw new Error('stopped');
  };
  await expect(lake.sync()).rejects.toThrow();
  lake.world.intercept = undefined;
  expect(readMetadata(lake.folderOf('items')).snapshots).toHaveLength(1);
  await lake.expectSame();
  await lake.sync();
  await lake.expectSame();
  const names = readdirSync(lake.folderOf('items')).filter((name) => name.startsWith('snap-'));
  expect(names).toHaveLength(readMetadata(lake.folderOf('items')).snapshots.length);
});

it('contains the address at which other machines see the files', async () => {
  lake.world.pipeline.lake.iceberg = 's3://bucket/lake';
  await lake.sync();
  const metadata = readMetadata(lake.folderOf('items'));
  expect(metadata.location).toBe('s3://bucket/lake/iceberg/items');
  const [file] = readFiles(metadata.snapshots.at(-1), lake.world.lakePath, 's3://bucket/lake');
  expect(file?.address).toMatch(/^s3:\/\/bucket\/lake\/items\/site_id-\d+\.[^/]+\.parquet$/);
  lake.world.pipeline.lake.iceberg = true;
});

it('is recreated if the folder of the lake has moved', async () => {
  const { retention, iceberg } = lake.world.pipeline.lake;
  lake.world.renew(lake.world.lakePath);
  Object.assign(lake.world.pipeline.lake, { retention, iceberg });
  await lake.move();
  await lake.sync();
  expect(readMetadata(lake.folderOf('items')).location).toBe(
    `file://${lake.folderOf('items').replace(/\/metadata$/, '')}`,
  );
  await lake.expectSame();
});

it('never makes a run fail', async () => {
  rmSync(path.join(lake.world.lakePath, 'iceberg'), { recursive: true });
  writeFileSync(path.join(lake.world.lakePath, 'iceberg'), '');
  await lake.move();
  await lake.sync();
  expect(lake.warnings).toEqual(
    Array.from({ length: 2 }, () => ({ event: 'iceberg.missed', reason: expect.stringContaining('ENOTDIR') })),
  );
  rmSync(path.join(lake.world.lakePath, 'iceberg'));
  await lake.sync();
  await lake.expectSame();
});

it('is updated by commands that only get the folder of the lake', async () => {
  const { location } = readMetadata(lake.folderOf('items'));
  const context = openContext(true);
  await runCompact({ lake: lake.world.lakePath }, context);
  await lake.expectSame();
  await runRebuild({ lake: lake.world.lakePath }, context);
  await lake.expectSame();
  expect(readMetadata(lake.folderOf('items')).location).toBe(location);
});
