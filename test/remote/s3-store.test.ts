import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseRemoteUrl, type RemoteUrl } from '../../src/formats/remote-url.js';
import { type ObjectStore, refuseUnconditional } from '../../src/wings/remote/object-store.js';
import { openS3Store } from '../../src/wings/remote/s3-store.js';
import { faultOf as failure } from '../failure.js';
import { FAULTS, outlastFault } from './fault-scenario.js';
import { makeIo } from './quiet-io.js';
import { type S3Server, SECRET, startS3, withCredentials } from './s3-server.js';

let s3: S3Server;
let store: ObjectStore;
let folder: string;
let restore: () => void;
const io = makeIo();

beforeAll(async () => {
  s3 = await startS3();
  restore = withCredentials();
  folder = await mkdtemp(join(tmpdir(), 'pricelake-s3-'));
  store = await openS3Store(place(), io, { silenceMs: 500 });
});

afterAll(async () => {
  store.close();
  restore();
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  s3.objects.clear();
  s3.fault = () => undefined;
});

const place = () => parseRemoteUrl(`s3://bucket/a lake?endpoint=${s3.endpoint}`) as RemoteUrl;
test('keys may contain any characters and are below the prefix, and a long listing is complete', async () => {
  const keys = Array.from({ length: 120 }, (_, i) => `items/site_id-1.é+%20${String(i).padStart(3, '0')}.parquet`);
  for (const key of keys) await store.write(key, Buffer.from(key));
  expect([...s3.objects.keys()][0]).toBe(`a lake/${keys[0]}`);
  expect((await store.list('items/')).map(({ key }) => key)).toEqual(keys);
  expect((await store.read(keys[7] as string))?.bytes.toString()).toBe(keys[7]);
  expect(await store.read('items/none')).toBeUndefined();
  await store.remove([...keys.slice(1), 'items/none']);
  expect(s3.objects.size).toBe(1);
});

test('a multipart file is uploaded with checksums, even if the last response is lost, and downloaded again', async () => {
  const path = join(folder, 'big');
  const bytes = randomBytes(17 * 1024 * 1024);
  await writeFile(path, bytes);
  const before = s3.headers.length;
  let posts = 0;
  s3.fault = ({ method }) => (method === 'POST' && ++posts === 2 ? 'lost' : undefined);
  await store.upload('big', path, bytes.length - 1);
  expect(s3.objects.get('a lake/big')?.bytes.equals(bytes.subarray(0, -1))).toBe(true);
  expect(s3.headers.slice(before).filter((text) => text.includes('x-amz-checksum-crc32'))).toHaveLength(2);
  await store.download('big', join(folder, 'back'), bytes.length);
  expect((await readFile(join(folder, 'back'))).equals(bytes.subarray(0, -1))).toBe(true);
});

test('a file whose parts the store has dropped is uploaded again, even if other names start with its name', async () => {
  const path = join(folder, 'big');
  const bytes = randomBytes(17 * 1024 * 1024);
  await writeFile(path, bytes);
  for (const before of [undefined, 'an older file']) {
    s3.objects.clear();
    await store.write('big.copy', bytes);
    if (before !== undefined) await store.write('big', Buffer.from(before));
    let posts = 0;
    s3.fault = ({ method }) => (method === 'POST' && ++posts === 2 ? 'dropped' : undefined);
    await store.upload('big', path, bytes.length);
    expect(s3.objects.get('a lake/big')?.bytes.equals(bytes)).toBe(true);
  }
});

test.each(FAULTS)('every request survives the fault %s once', async (fault) => {
  await outlastFault(store, s3, fault, folder);
  expect(s3.objects.size).toBe(0);
});

test("an object is dated by the store's clock, when it is written and when it is read", async () => {
  s3.aheadMs = 7_200_000;
  await store.write('lease', Buffer.from('mine'));
  s3.aheadMs += 60_000;
  const { writtenAt, readAt } = (await store.read('lease')) ?? {};
  s3.aheadMs = 0;
  expect(Number(writtenAt) - Date.now()).toBeGreaterThan(7_000_000);
  expect(Number(readAt) - Number(writtenAt)).toBeGreaterThanOrEqual(60_000);
});

test('a store that ignores conditions is refused, and one that honors them keeps no trace of the probe', async () => {
  await refuseUnconditional(store);
  expect(s3.objects.size).toBe(0);
  s3.ignoresConditions = true;
  expect(await failure(refuseUnconditional(store))).toMatchObject({ code: 'config' });
  s3.ignoresConditions = false;
});

test("a lasting fault is reported in the store's words, without any secret or identifier", async () => {
  s3.fault = () => '503';
  const error = await failure(store.write('key', Buffer.from('x')));
  expect(error).toMatchObject({ code: 'unavailable', facts: { status: 503 } });
  expect(error?.message).toContain('write key: 503 SlowDown');
  expect(error?.cause).toBeUndefined();
  s3.fault = () => undefined;
  const elsewhere = await openS3Store({ ...place(), bucket: 'another' }, io);
  expect(await failure(elsewhere.list(''))).toMatchObject({ code: 'config', facts: { status: 404 } });
  elsewhere.close();
  expect(s3.headers.join()).not.toContain(SECRET);
  expect(io.logged).not.toContain('key-id');
});

test('requests survive a store that is away for five seconds, even with the shortest waits', async () => {
  let waited = 0;
  const sleep = async (ms: number) => {
    waited += ms;
  };
  const impatient = await openS3Store(place(), { ...io, sleep, random: () => 0 }, { silenceMs: 500 });
  s3.fault = () => (waited < 5000 ? 'reset' : undefined);
  try {
    expect(await impatient.create('items/a', Buffer.from('1'))).toBe(true);
  } finally {
    impatient.close();
  }
});

test('without the SDK, the error says what to install', async () => {
  const missing = () =>
    Promise.reject(Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }));
  const { loadSdk } = await import('../../src/wings/remote/s3-client.js');
  const error = await failure(openS3Store(place(), io, { load: () => loadSdk(missing) }));
  expect(error).toMatchObject({
    code: 'config',
    facts: { hint: 'Run `npm install @aws-sdk/client-s3 @aws-sdk/lib-storage`.' },
  });
});
