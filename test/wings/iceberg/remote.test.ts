import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runRestore } from '../../../src/cli/actions/run-restore.js';
import { TABLE_NAMES } from '../../../src/tables/table.js';
import { syncWithWings } from '../../../src/wings/index.js';
import { openContext } from '../../cli/open-context.js';
import { faultOf } from '../../failure.js';
import { openS3World, type S3World } from '../../remote/s3-world.js';
import { testIo } from '../../run/world.js';
import { readFiles, readMetadata } from './read-metadata.js';

const BASE = 's3://bucket/prices';
let remote: S3World;
let { s3, world } = {} as S3World;

beforeAll(async () => {
  remote = await openS3World({ items: 40, sites: 2, pastDays: 2 });
  ({ s3, world } = remote);
});
afterAll(() => remote.close());

const keys = (part: string) => [...s3.objects.keys()].filter((key) => key.includes(part));

async function sync(machine: string): Promise<void> {
  const { lake, ...pipeline } = remote.machine(machine);
  await syncWithWings({ ...pipeline, lake: { ...lake, iceberg: true } }, testIo);
}

/** Reads Iceberg from the objects only, like an engine that has access to the bucket alone. */
async function readBucket(): Promise<{ items: number[] | undefined; versions: string[] }> {
  const copy = path.join(world.folder, 'bucket');
  await rm(copy, { recursive: true, force: true });
  for (const [key, { bytes }] of s3.objects) {
    const file = path.join(copy, key.slice('prices/'.length));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  const found = TABLE_NAMES.map((table) => {
    const metadata = readMetadata(path.join(copy, 'iceberg', table, 'metadata'));
    expect(metadata.location).toBe(`${BASE}/iceberg/${table}`);
    for (const snapshot of metadata.snapshots) {
      for (const { address, bytes } of readFiles(snapshot, copy, BASE)) {
        const object = s3.objects.get(address.replace('s3://bucket/', ''));
        expect(BigInt(object?.bytes.length ?? -1)).toBe(bytes);
      }
    }
    return metadata.snapshots.map((one) => one['snapshot-id']);
  });
  return {
    items: found[TABLE_NAMES.indexOf('items')],
    versions: keys('/items/metadata/v').filter((key) => key.endsWith('.json')),
  };
}

it('each machine that publishes adds its metadata to the bucket, with the snapshots of earlier machines', async () => {
  await sync('one');
  expect((await readBucket()).items).toEqual([1]);
  const puts = s3.asked.filter(({ method, key }) => method === 'PUT' && key.includes('/iceberg/items/'));
  expect(puts.at(-1)?.key).toMatch(/version-hint\.text$/);
  await world.sandbox.advance({ hours: 1, changes: 10 });
  // Its disk is empty.
  await sync('two');
  const { items, versions } = await readBucket();
  expect(items).toEqual([1, 2]);
  expect(versions).toHaveLength(2);
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await sync('one');
  expect((await readBucket()).items).toEqual([1, 2, 3]);
});

it('sends no metadata if nothing is new', async () => {
  const before = s3.asked.length;
  await sync('one');
  const asked = s3.asked.slice(before).filter(({ key }) => key.includes('/iceberg/'));
  expect(asked.filter(({ method }) => method === 'PUT')).toEqual([]);
  // Only pointers change under their names, so only these are read.
  const read = asked.filter(({ method, key }) => method === 'GET' && !key.endsWith('/version-hint.text'));
  expect(read.filter(({ key }) => /\.(avro|json)$/.test(key))).toEqual([]);
});

it('a machine that sleeps while it sends metadata leaves the metadata of a later run as it is', async () => {
  await world.sandbox.advance({ hours: 1, changes: 10 });
  let hasSlept = false;
  s3.fault = async ({ method, key }) => {
    const isSending = keys('/items/metadata/v4.').length > 0;
    if (hasSlept || method !== 'GET' || !key.endsWith('items/metadata/version-hint.text') || !isSending)
      return undefined;
    hasSlept = true;
    s3.aheadMs += 120_000;
    await world.sandbox.advance({ hours: 1, changes: 10 });
    await sync('two');
    return undefined;
  };
  expect(await faultOf(sync('one'))).toMatchObject({ code: 'lake_locked' });
  expect(hasSlept).toBe(true);
  expect((await readBucket()).items?.at(-1)).toBe(5);
  await sync('one');
});

it('metadata that a machine has lost is written again, also to the bucket', async () => {
  await rm(path.join(remote.machine('one').lake.path, 'iceberg'), { recursive: true });
  await sync('one');
  const { items, versions } = await readBucket();
  expect(items).toEqual([5]);
  expect(versions).toHaveLength(1);
});

it('restore recreates the metadata, and refuses an object that is too large for it by name', async () => {
  const lake = path.join(world.folder, 'restored');
  const file = path.join(world.folder, 'restore.yaml');
  await remote.writePipeline(lake, file);
  await runRestore({ pipeline: file }, openContext(true));
  expect(readMetadata(path.join(lake, 'iceberg', 'items', 'metadata')).location).toBe(`${BASE}/iceberg/items`);
  s3.objects.set('prices/iceberg/items/metadata/v9.metadata.json', {
    ...{ etag: '"x"', writtenAt: new Date() },
    bytes: Buffer.alloc(128 * 1024 * 1024 + 1),
  });
  const other = path.join(world.folder, 'other.yaml');
  await remote.writePipeline(path.join(world.folder, 'other'), other);
  const fault = await faultOf(runRestore({ pipeline: other }, openContext(true)));
  expect(fault).toMatchObject({
    code: 'lake_invalid',
    message: expect.stringMatching(/v9\.metadata\.json"? has 134217729/),
  });
});
