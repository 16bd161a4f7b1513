import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { makeNote, readHolder, readNote, takeLease, writeNote } from '../../src/wings/remote/lease.js';
import { refuseUnconditional } from '../../src/wings/remote/object-store.js';
import { failure } from '../failure.js';
import { type MemoryStore, makeMemoryStore } from './memory-store.js';
import { makeIo } from './quiet-io.js';

const URL = 's3://bucket/lakes/one';
const key = (generation: number) => `_pricelake/lock/00000000000${generation}`;
let store: MemoryStore;
let io: ReturnType<typeof makeIo>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
  store = makeMemoryStore(URL);
  io = Object.assign(makeIo(), { now: () => new Date() });
});
afterEach(() => void vi.useRealTimers());

const readLease = (generation: number) => JSON.parse(store.objects.get(key(generation))?.bytes.toString() ?? '{}');
const leases = () => [...store.objects.keys()];
/** Writes the lease of another process, which is released by default. */
const putLease = (generation: number, values: object = {}) =>
  store.write(
    key(generation),
    Buffer.from(JSON.stringify({ ...OTHER, after: generation - 1, inLine: true, released: true, ...values })),
  );
const OTHER = { pid: 7, host: 'elsewhere', place: '', startedAt: '', token: 't', acquiredAt: 'noon', copy: 'other' };

describe('a lease', () => {
  test('has the generation after the last lease, and replaces it', async () => {
    const note = makeNote(URL);
    const first = await takeLease(store, note, io);
    expect(first).toMatchObject({ generation: 1, inLine: true });
    expect(readLease(1)).toMatchObject({ pid: process.pid, copy: note.copy, after: 0, inLine: true, released: false });
    expect(await readHolder(store)).toMatchObject({ pid: process.pid, since: readLease(1).acquiredAt, alive: true });
    await first.release();
    expect(readLease(1)).toMatchObject({ copy: note.copy, released: true });
    expect(await readHolder(store)).toBeUndefined();
    const second = await takeLease(store, { ...note, generation: 1 }, io);
    expect(second).toMatchObject({ generation: 2, inLine: true });
    expect(leases()).toEqual([key(2)]);
    expect(readLease(2)).toMatchObject({ after: 1 });
    await second.release();
    expect(io.events).toEqual([]);
  });

  test('is in line only for the folder that had the last lease', async () => {
    const note = makeNote(URL);
    const isInLine = async (last: object, generation: number) => {
      store.objects.clear();
      await putLease(3, last);
      const lease = await takeLease(store, { ...note, generation }, io);
      await lease.release();
      return lease.inLine;
    };
    const { copy } = note;
    expect(await isInLine({ copy, after: 2, inLine: false }, 3)).toBe(true);
    expect(await isInLine({ copy, after: 2, inLine: true }, 2)).toBe(true);
    expect(await isInLine({ copy, after: 2, inLine: false }, 2)).toBe(false);
    expect(await isInLine({ copy, after: 2, inLine: true }, 1)).toBe(false);
    expect(await isInLine({ after: 2, inLine: true }, 3)).toBe(false);
  });

  test('of another host is held for 90 seconds, and can then be taken over', async () => {
    await putLease(1, { released: false });
    vi.setSystemTime(Date.now() + 90_000);
    expect(await readHolder(store)).toMatchObject({ ...{ pid: 7, host: 'elsewhere', since: 'noon', alive: true } });
    expect(await failure(takeLease(store, makeNote(URL), io))).toMatchObject({
      code: 'lake_locked',
      message: `${URL}: locked by process 7 on elsewhere since noon`,
      facts: { hint: expect.stringContaining('90 seconds'), pid: 7, host: 'elsewhere', since: 'noon' },
    });
    expect(leases()).toEqual([key(1)]);
    vi.setSystemTime(Date.now() + 1);
    expect(await readHolder(store)).toMatchObject({ pid: 7, alive: false });
    const lease = await takeLease(store, makeNote(URL), io);
    expect(lease).toMatchObject({ generation: 2, inLine: false });
    expect(io.logged).toBe('remote.lease_taken_over {"pid":7,"host":"elsewhere"}\n');
    await lease.release();
  });

  test('of a dead process on this machine is free at once', async () => {
    const lease = await takeLease(store, makeNote(URL), io);
    await lease.release();
    const dead = { ...readLease(1), released: false, startedAt: 'never' };
    await store.write(key(1), Buffer.from(JSON.stringify(dead)));
    const next = await takeLease(store, makeNote(URL), io);
    expect(next.generation).toBe(2);
    await next.release();
  });

  test('that pricelake did not write is refused, and other objects beside leases are kept', async () => {
    await store.write('_pricelake/lock/notes.txt', Buffer.from('x'));
    await store.write(key(1), Buffer.from('{}'));
    expect(await failure(takeLease(store, makeNote(URL), io))).toMatchObject({
      code: 'lake_invalid',
      message: `${URL}: pricelake did not write the lease ${key(1)}`,
      facts: { hint: expect.stringContaining('delete the object') },
      cause: expect.any(Error),
    });
    await store.remove([key(1)]);
    await (await takeLease(store, makeNote(URL), io)).release();
    expect(leases()).toEqual(['_pricelake/lock/notes.txt', key(1)]);
  });

  test('is taken once: the second contender looks again, and a lost response is recognized as its own', async () => {
    const { create, list } = store;
    store.create = async () => {
      store.create = create;
      await putLease(1);
      return false;
    };
    expect(await takeLease(store, makeNote(URL), io)).toMatchObject({ generation: 2 });
    store.objects.clear();
    store.create = async (...args) => {
      await create(...args);
      return false;
    };
    expect(await takeLease(store, makeNote(URL), io)).toMatchObject({ generation: 1 });
    store.create = create;
    store.objects.clear();
    // Listed, and removed before it is read.
    store.list = async (prefix) => {
      store.list = list;
      await putLease(4);
      const listed = await list(prefix);
      store.objects.clear();
      return listed;
    };
    expect(await takeLease(store, makeNote(URL), io)).toMatchObject({ generation: 1 });
    store.objects.clear();
    // Others take generations 1 and 2 between the listing and the creation, and remove the first.
    store.create = async (...args) => {
      store.create = create;
      await putLease(2);
      return create(...args);
    };
    expect(await takeLease(store, makeNote(URL), io)).toMatchObject({ generation: 3 });
    expect(leases()).toEqual([key(3)]);
  });

  test('is renewed every 20 seconds until its release', async () => {
    const lease = await takeLease(store, makeNote(URL), io);
    const age = () => Date.now() - Number(store.objects.get(key(1))?.writtenAt);
    for (const [ms, since] of [
      [19_999, 19_999],
      [1, 0],
      [20_000, 0],
      [100_000, 0],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(age()).toBe(since);
    }
    await lease.confirm();
    await lease.release();
    expect(readLease(1).released).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(age()).toBe(60_000);
    expect([lease.lost.aborted, io.events]).toEqual([false, []]);
  });

  test('is lost if another process takes it over, and the holder stops and writes no further lease', async () => {
    const lease = await takeLease(store, makeNote(URL), io);
    await putLease(2, { released: false });
    await vi.advanceTimersByTimeAsync(20_000);
    const reason = 'another process took over the lease';
    expect(lease.lost.reason).toMatchObject({
      code: 'lake_locked',
      message: `${URL}: ${reason}`,
      facts: { hint: 'Run the same command again.' },
    });
    expect(await failure(lease.confirm())).toBe(lease.lost.reason);
    await store.remove([key(1)]);
    await vi.advanceTimersByTimeAsync(60_000);
    await lease.release();
    expect(leases()).toEqual([key(2)]);
    expect(io.logged).toBe(`remote.lease_lost ${JSON.stringify({ reason })}\n`);
  });

  test("is lost if it can't be renewed for 70 seconds, before others may take it over", async () => {
    const lease = await takeLease(store, makeNote(URL), io);
    const { write } = store;
    store.write = () => Promise.reject(new Error('no way'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([lease.lost.aborted, io.events]).toEqual([false, Array(3).fill('remote.beat_missed')]);
    expect(io.logged).toContain('"error":"Error: no way"');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(lease.lost.reason).toMatchObject({ message: `${URL}: the lease could not be renewed in time` });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(io.events.slice(3)).toEqual(['remote.lease_lost']);
    store.write = write;
    await lease.release();
    expect(readLease(1).released).toBe(false);
  });
});

test('the note of a folder is valid only for its remote, and a damaged note is ignored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-note-'));
  const lake = await openLake(folder, { create: true });
  expect(await readNote(lake, URL)).toBeUndefined();
  const note = { ...makeNote(URL), generation: 4 };
  await writeNote(lake, note);
  expect(await readNote(lake, URL)).toEqual(note);
  expect(await readNote(lake, `${URL}/more`)).toBeUndefined();
  for (const text of ['{', JSON.stringify({ ...note, generation: -1 }), JSON.stringify({ ...note, more: 1 })]) {
    await writeFile(join(folder, '_pricelake', 'remote.json'), text);
    expect(await readNote(lake, URL)).toBeUndefined();
  }
  await rm(folder, { recursive: true });
});

describe('a store without conditional writes', () => {
  test('is refused with a description of its behavior', async () => {
    const { create } = store;
    store.create = async (name, bytes) => {
      await store.write(name, bytes);
      return true;
    };
    const error = await failure(refuseUnconditional(store));
    expect(error).toMatchObject({
      code: 'config',
      message: `${URL}: the store ignores If-None-Match: it overwrites existing objects`,
      facts: { hint: expect.stringContaining('conditional writes') },
    });
    store.create = async () => false;
    expect((await failure(refuseUnconditional(store))).message).toContain(
      ': it returned nothing instead of the object that was created',
    );
    // One that says that it refuses, and overwrites.
    store.create = async (name, bytes) => {
      await store.write(name, bytes);
      return false;
    };
    expect((await failure(refuseUnconditional(store))).message).toContain(
      ': it returned 2 instead of the object that was created',
    );
    const names: string[] = [];
    store.create = async (name, bytes) => {
      names.push(name);
      await create(name, bytes);
      return false; // the answer to a first try was lost
    };
    await refuseUnconditional(store);
    expect(names[0]).toMatch(/^_pricelake\/probe\/[0-9a-f-]{36}$/);
    expect(leases()).toEqual([]);
  });
});
