import { expect, test } from 'vitest';
import { type ErrorCode, PricelakeError } from '../../src/io/errors.js';
import type { Landing } from '../../src/journal/landings.js';
import { allowSkipping, skipSample } from '../../src/source/allow-skipping.js';
import { hasReadLists, landRereads } from '../../src/source/hydrate.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { listEntries, openLanding } from './landing.js';

const ids = (count: number) => Array.from({ length: count }, (_, n) => BigInt(n));
const serve = () => fakeClient((path) => ({ id: Number(path.slice('/items/'.length)) }));
const PAGE = { type: 'hydrate.page', file: 'f', end: 9, readAt: 'x', calls: 1, sha256: 'a' } as const;
const landPage = ({ journal }: Landing, rows: number) => journal.append({ ...PAGE, rows });

test('items are read one by one, after the journal records that', async () => {
  const [landing, service] = [await openLanding('landed'), serve()];
  await landRereads(service.client, landing, ids(3), null, createFakeIo());
  expect(service.asked.map(({ path }) => path).sort()).toEqual(['/items/0', '/items/1', '/items/2']);
  expect(listEntries(landing, 'hydrate.again')[0]).toEqual({ type: 'hydrate.again', items: 3, calls: 0 });
  expect(listEntries(landing, 'hydrate.page').map(({ rows }) => rows)).toEqual([1, 1, 1]);
});

test.each([
  [0, null, 0],
  [500, null, 500],
  [501, null, 0],
  [3, 30n, 3],
  [3, 29n, 0],
])('of %i items, with %s calls left, %i are read', async (count, left, read) => {
  const [landing, service] = [await openLanding('landed'), serve()];
  await landRereads(service.client, landing, ids(count), left, createFakeIo());
  expect(service.asked).toHaveLength(read);
  expect(listEntries(landing, 'hydrate.again')).toHaveLength(read === 0 ? 0 : 1);
});

test("a service that doesn't respond only delays the reads, but a revoked key ends the run", async () => {
  const refuse = (code: ErrorCode) => {
    const { client } = fakeClient(() => {
      throw new PricelakeError(code, 'no');
    });
    return client;
  };
  const io = createFakeIo();
  await landRereads(refuse('unavailable'), await openLanding('landed'), ids(1), null, io);
  expect(io.events).toEqual([{ level: 'warn', event: 'sample.skipped', facts: { code: 'unavailable', reason: 'no' } }]);
  const revoked = landRereads(refuse('unauthorized'), await openLanding('landed'), ids(1), null, io);
  await expect(revoked).rejects.toMatchObject({ code: 'unauthorized' });
});

test('single items may be more current than pages and exports, and are read again once per run', async () => {
  const landing = await openLanding('landed');
  expect(hasReadLists(landing)).toBe(false);
  await landPage(landing, 1);
  expect(hasReadLists(landing)).toBe(false);
  await landPage(landing, 2);
  await landPage(landing, 1);
  expect(hasReadLists(landing)).toBe(true);
  await landing.journal.append({ type: 'hydrate.again', items: 1, calls: 1 });
  expect(hasReadLists(landing)).toBe(false);
});

test('a run continues without a sample for these reasons, and for no other', () => {
  const refused: ErrorCode[] = ['not_found', 'bad_request', 'plan_refuses'];
  const skipped: ErrorCode[] = ['quota', 'budget', 'unavailable', 'offline', 'contract', ...refused];
  for (const code of skipped) {
    const error = new PricelakeError(code, 'no');
    expect(allowSkipping(error)).toBe(error);
    expect(skipSample(error, createFakeIo())).toBeUndefined();
  }
  const others = [new PricelakeError('stopped', 'no'), Object.assign(new Error('x'), { code: 'quota' }), 'quota'];
  for (const error of others) {
    expect(() => allowSkipping(error)).toThrow(error as Error);
  }
});

test('nothing is read again once the row counts are recorded', async () => {
  const landing = await openLanding('landed');
  await landPage(landing, 2);
  await landing.journal.append({ type: 'hydrate.done', calls: 1 });
  expect(hasReadLists(landing)).toBe(true);
  await landing.journal.append({ type: 'tally', received: 2n, written: 2n, rejected: 0n, deduplicated: 0n });
  expect(hasReadLists(landing)).toBe(false);
});
