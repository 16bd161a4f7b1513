import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { runRestore } from '../../src/cli/actions/run-restore.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { Database } from '../../src/sql/connection.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { faultOf as fault } from '../failure.js';
import { sealLines } from '../journal/list-fold.js';
import { reseal } from '../lake/log-writer.js';
import { testIo } from '../run/world.js';
import { openS3World, type S3World } from './s3-world.js';

// Somebody who can write to the bucket may break the copy, but can reach nothing else on the machine.

let remote: S3World;
let { s3, world, machine, address } = {} as S3World;
let sound: Map<string, { bytes: Buffer; etag: string; writtenAt: Date }>;

beforeAll(async () => {
  remote = await openS3World({ items: 20, sites: 2, pastDays: 1 });
  ({ s3, world, machine, address } = remote);
  await syncWithWings(machine('first'), testIo);
  sound = new Map(s3.objects);
});

afterAll(() => remote.close());

beforeEach(() => {
  s3.objects.clear();
  for (const [key, object] of sound) s3.objects.set(key, object);
  s3.fault = () => undefined;
});

function put(key: string, text: string | Buffer): void {
  s3.objects.set(key, { bytes: Buffer.from(text), etag: '"x"', writtenAt: new Date() });
}

const readObject = (key: string) => s3.objects.get(key)?.bytes.toString() ?? expect.unreachable(`no ${key}`);
const ENTRY = 'prices/runs/_delta_log/00000000000000000000.json';
const STRANGE = Buffer.from('not what was here');
const SHA256 = createHash('sha256').update(STRANGE).digest('hex');

/** The first log entry of `runs`, which every command reads, names one more file. */
function nameFile(place: string, size = STRANGE.length): void {
  const facts = { size, modificationTime: 1, dataChange: true, stats: '{"numRecords":1}' };
  const add = { path: place, partitionValues: {}, ...facts };
  const tagged = { add: { ...add, tags: { 'pricelake.sha256': SHA256 } } };
  put(ENTRY, reseal(`${readObject(ENTRY)}${JSON.stringify(tagged)}\n`));
}

/** A disk with a file that must stay as it is, an empty folder for the lake and one for a cache. */
async function openDisk() {
  const folder = await mkdtemp(path.join(world.folder, 'disk-'));
  await writeFile(path.join(folder, 'outside.parquet'), 'mine');
  const lake = path.join(folder, 'lake');
  const cache = path.join(folder, 'cache');
  const file = path.join(folder, 'prices.yaml');
  await remote.writePipeline(lake, file);
  const query = { remote: address, cache, lake: './nowhere', sql: 'SELECT count(*) FROM runs', memory: '1GB' };
  return {
    lake,
    restore: () => fault(runRestore({ pipeline: file }, openContext(true))),
    query: () => fault(runQuery(query, openContext(true))),
    status: () => fault(showStatus(query, openContext(true))),
    sync: () => fault(syncWithWings(machine(path.join(path.basename(folder), 'lake')), testIo)),
    /** Expects that nothing exists beside the lake and the cache, and that nothing else was changed. */
    async expectUntouched() {
      expect(await readFile(path.join(folder, 'outside.parquet'), 'utf8')).toBe('mine');
      const names = (await readdir(folder)).filter((name) => !['lake', 'cache'].includes(name));
      expect(names).toEqual(['outside.parquet', 'prices.yaml']);
      const caches = await readdir(cache).catch(() => []);
      expect(caches.filter((name) => !/^[0-9a-f]{16}$/.test(name))).toEqual([]);
      await rm(folder, { recursive: true });
    },
  };
}

test('an unaltered bucket is restored and read', async () => {
  const disk = await openDisk();
  expect([await disk.restore(), await disk.query(), await disk.status()]).toEqual([undefined, undefined, undefined]);
  await disk.expectUntouched();
});

test.each([
  ['a path up', '../../outside.parquet'],
  ['a percent-encoded path up', '%2e%2e%2f%2e%2e%2foutside.parquet'],
  ['a path up after a folder', 'a/../../../outside.parquet'],
  ['an absolute path', '/outside.parquet'],
  ['a drive', 'C:%5Coutside.parquet'],
  ['backslashes', '..%5C..%5Coutside.parquet'],
  ['a NUL byte', 'outside.parquet%00'],
  ['an escape sequence', '%1b%5B2Joutside.parquet'],
  ['a local address', 'file:///outside.parquet'],
  ['another bucket', 's3://other/outside.parquet'],
  ['an empty path', ''],
  ['its own folder', '.'],
  ['a log entry', '_delta_log/00000000000000000001.json'],
  ['a name too long for any disk', `${'x'.repeat(300)}.parquet`],
])('a log that names %s is refused with the name, and nothing outside is written', async (_what, place) => {
  nameFile(place);
  // These keys are the ones that the requests would have.
  for (const key of ['outside.parquet', 'prices/outside.parquet']) put(key, STRANGE);
  const disk = await openDisk();
  for (const error of [await disk.restore(), await disk.query(), await disk.sync()]) {
    expect(error).toMatchObject({ code: 'lake_invalid' });
    expect(error?.message).toContain('runs/_delta_log/00000000000000000000.json: line');
    expect(error?.message).toContain(JSON.stringify(place).slice(0, 100));
  }
  await disk.expectUntouched();
});

test('a checkpoint that names a path up is refused, and so is one with millions of rows', async () => {
  const db = await Database.open();
  const write = async (select: string) => {
    const file = path.join(world.folder, 'hostile.checkpoint.parquet');
    await db.run(`COPY (${select}) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`);
    put('prices/runs/_delta_log/00000000000000000000.checkpoint.parquet', await readFile(file));
  };
  const add = `{path: '../../outside.parquet', size: ${STRANGE.length}, modificationTime: 1, partitionValues: MAP {}}`;
  await write(`SELECT ${add} AS add`);
  put('outside.parquet', STRANGE);
  const disk = await openDisk();
  expect(await disk.restore()).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining('outside') });
  await write(`SELECT {path: repeat('x', 200)} AS remove FROM range(3000000)`);
  const error = await disk.query();
  expect(error).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining('has more than 2000000 rows') });
  await write(`SELECT {path: repeat('x', 1000000)} AS remove FROM range(1000)`);
  expect(await disk.query()).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining('characters') });
  await db.close();
  await disk.expectUntouched();
});

test.each([
  ['_pricelake/landing/../../../000009-outside/', 'journal.ndjson'],
  ['_pricelake/landing/000009-20261120T090000Z/', '../../swap.json'],
  ['_pricelake/backfill/', '..\\..\\..\\outside.parquet'],
  ['_pricelake/backfill/', '/etc/hostname'],
])('a landed object in %s is not restored to %s', async (folder, name) => {
  put(`prices/${folder}journal.ndjson`, '');
  put(`prices/${folder}${name}`, STRANGE);
  const disk = await openDisk();
  const error = await disk.restore();
  expect(error).toMatchObject({ code: 'lake_invalid' });
  expect(error?.message).toContain(JSON.stringify(folder + name));
  await disk.expectUntouched();
});

const BEGIN = { type: 'begin', runNumber: '9', at: '2026-11-20T09:00:00.000Z', pipeline: 'test', cursorFrom: null };
const BEGUN = { ...BEGIN, runId: '000009-20261120T090000Z' };
const PAGE = { type: 'poll.page', rows: 1, end: 0, readAt: BEGIN.at, calls: 1 };

test.each([
  ['a run by a path', [{ ...BEGIN, runId: '../../../../outside' }]],
  [
    'an event by a path',
    [
      BEGUN,
      {
        ...{ type: 'source.rows', source: 's', origin: 'webhook', file: 'f' },
        key: '../../outside.parquet',
        rows: 1,
        end: 1,
      },
    ],
  ],
  ['landed rows by a path', [BEGUN, { ...PAGE, file: '../../../../outside.parquet' }]],
])('a journal that names %s is refused', async (_what, lines) => {
  const key = 'prices/_pricelake/landing/000009-20261120T090000Z/journal.ndjson';
  put(key, sealLines(lines));
  const disk = await openDisk();
  for (const error of [await disk.sync(), await disk.status()]) {
    expect(error).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining('journal.ndjson: line') });
    expect(error?.message).toContain('outside');
  }
  await disk.expectUntouched();
});

test('a lake.json that names a file outside is refused', async () => {
  const pointer = JSON.parse(readObject('prices/lake.json'));
  pointer.tables.runs.files[0].path = 'runs/../../outside.parquet';
  put('prices/lake.json', JSON.stringify(pointer));
  const disk = await openDisk();
  const error = await disk.restore();
  expect(error).toMatchObject({
    code: 'lake_invalid',
    message: expect.stringContaining('lake.json: damaged: the path'),
  });
  await disk.expectUntouched();
});

test("the bucket's catalog is never downloaded, because the catalog is generated from the logs", async () => {
  const due = readObject('prices/catalog.sql');
  put('prices/catalog.sql', '.shell touch outside\n');
  const disk = await openDisk();
  expect(await disk.restore()).toBeUndefined();
  expect(await readFile(path.join(disk.lake, 'catalog.sql'), 'utf8')).toBe(due);
  await disk.expectUntouched();
});

test.each([
  ['a small file', 'prices/lake.json'],
  ['a log entry', ENTRY],
  ['a listing', ''],
])('%s without an end is not read until memory or disk are exhausted', async (_what, endless) => {
  s3.fault = ({ method, key }) => (method === 'GET' && key === endless ? 'endless' : undefined);
  const disk = await openDisk();
  const error = await disk.status();
  expect(['lake_invalid', 'unavailable']).toContain(error?.code);
  expect(error?.message).toMatch(/larger than/);
  await disk.expectUntouched();
});

test('an impossible file size in a log is refused', async () => {
  nameFile('a.parquet', -1);
  const disk = await openDisk();
  expect(await disk.query()).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining('the size') });
  await disk.expectUntouched();
});

test('a store that lists unrequested keys is refused', async () => {
  put('other/items/_delta_log/00000000000000000000.json', '{}');
  s3.listsAll = true;
  const disk = await openDisk();
  const error = await disk.status();
  s3.listsAll = false;
  expect(error).toMatchObject({
    code: 'lake_invalid',
    message: expect.stringContaining(`the store's list contains "`),
  });
  await disk.expectUntouched();
});
