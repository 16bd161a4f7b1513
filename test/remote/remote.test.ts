import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { beginRun, peekUnfinishedRun } from '../../src/journal/landings.js';
import { writeCheckpoint } from '../../src/lake/checkpoint.js';
import { readLog } from '../../src/lake/delta-log.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import type { Lake } from '../../src/tables/layout.js';
import { readHolder } from '../../src/wings/remote/lease.js';
import type { ObjectStore } from '../../src/wings/remote/object-store.js';
import type { Remote } from '../../src/wings/remote/remote.js';
import { faultOf as failure } from '../failure.js';
import { TO_END } from '../journal/list-fold.js';
import { select, write } from '../lake/items.js';
import { createSeeded } from '../seeded.js';
import { openRemoteWorld } from './fixture.js';
import { killAtRequests } from './kill-scenario.js';
import { commitRun, readPublished, readRemote, readVersions } from './machines.js';
import { dieAt, makeMemoryStore } from './memory-store.js';

test('machines can take turns: one publishes, and another with an empty disk continues', async () => {
  const { store, machine, io } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.run(1);
  expect(await readRemote(store)).toMatchObject({ runs: { version: 0 }, datasets: { version: 0 } });
  await two.run(2);
  expect(io.logged).toContain('remote.restored {"versions":"datasets 0, runs 0"}');
  await two.run(3);
  await one.run(4);
  expect(await readRemote(store)).toMatchObject({ runs: { version: 3 }, datasets: { version: 3 } });
  expect(await readPublished(store)).toEqual({ runs: 3, datasets: 3 });
  expect(await readVersions(one)).toEqual({ runs: 3, datasets: 3 });
  for (const name of ['lake.json', 'catalog.sql']) {
    expect(store.objects.get(name)?.bytes.toString()).toBe(await readFile(join(one.path, name), 'utf8'));
  }
});

test('a lake that existed before its remote uploads only its newest version, with a checkpoint', async () => {
  const { store, machine, io } = await openRemoteWorld();
  const [old, other] = [await machine(), await machine()];
  await old.run(1);
  await old.run(2);
  store.objects.clear(); // another prefix, say
  await rm(join(old.path, '_pricelake', 'remote.json'));
  await old.hold();
  const logs = [...store.objects.keys()].filter((key) => key.startsWith('runs/_delta_log/'));
  expect(logs.map((key) => key.slice(key.lastIndexOf('/') + 1))).toEqual([
    '00000000000000000001.checkpoint.parquet',
    '00000000000000000001.json',
    '_last_checkpoint',
  ]);
  await other.run(3);
  expect(await readVersions(other)).toEqual({ runs: 2, datasets: 2 });
  expect(io.events).not.toContain('remote.moved_aside');
});

test('an empty disk gets a log from its newest checkpoint on, and later only the missing entries', async () => {
  const { store, machine, db } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.run(1);
  await one.hold(async (lake) => {
    await commitRun(db, lake, 2);
    await writeCheckpoint(lake, 'runs', new Date());
  });
  await one.run(3);
  const { download } = store;
  const fetched: string[] = [];
  store.download = (key, ...more) => {
    if (key.startsWith('runs/_delta_log/')) fetched.push(key.slice('runs/_delta_log/'.length).replace(/^0+/, ''));
    return download(key, ...more);
  };
  await two.hold();
  expect(fetched).toEqual(['1.checkpoint.parquet', '_last_checkpoint', '1.json', '2.json']);
  expect(await readVersions(two)).toEqual({ runs: 2, datasets: 2 });
  await one.run(4);
  fetched.length = 0;
  await two.hold();
  expect(fetched).toEqual(['3.json']);
  expect(await readVersions(two)).toEqual({ runs: 3, datasets: 3 });
});

test('of two concurrent machines the second is refused, and after a crash the lease becomes free in time', async () => {
  const { machine, store } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.hold(async () => {
    expect(await failure(two.hold())).toMatchObject({ code: 'lake_locked', facts: { pid: process.pid } });
    expect(await readHolder(store)).toMatchObject({ pid: process.pid, alive: true });
  });
  expect(await readHolder(store)).toBeUndefined();
  const dying = one.hold(
    undefined,
    dieAt(store, (what) => what.startsWith('list runs/')),
  );
  await expect(dying).rejects.toThrow('dead');
  expect(await failure(two.run(1))).toMatchObject({ code: 'lake_locked' });
  store.aheadMs = 120_000;
  await two.run(1);
  expect(await readPublished(store)).toEqual({ runs: 0, datasets: 0 });
});

test("a machine that lost its lease publishes nothing, and then takes over the other machine's run", async () => {
  const { store, machine, io, db } = await openRemoteWorld();
  const [slow, fast] = [await machine(), await machine()];
  await slow.run(1);
  const late = slow.hold(async (lake) => {
    store.aheadMs += 120_000;
    await fast.run(2);
    await commitRun(db, lake, 3);
  });
  expect(await failure(late)).toMatchObject({ code: 'lake_locked' });
  expect(await readRemote(store)).toMatchObject({ runs: { version: 1 }, datasets: { version: 1 } });
  store.aheadMs += 120_000;
  await slow.run(4);
  expect(await readVersions(slow)).toEqual({ runs: 2, datasets: 2 });
  expect(io.events).toContain('remote.moved_aside');
  const aside = () => readdir(join(slow.path, '_pricelake', 'aside'));
  expect(await aside()).toEqual(['datasets', 'runs']);
  await fast.run(5);
  await slow.hold();
  await expect(aside()).rejects.toMatchObject({ code: 'ENOENT' });
  expect(io.logged).toContain('remote.restored {"versions":"datasets 3, runs 3"}');
});

test('an interrupted first upload can be continued only by its own machine', async () => {
  const { store, machine } = await openRemoteWorld();
  const [one, other] = [await machine(), await machine()];
  const dying = dieAt(store, (what) => what === 'write lake.json');
  await expect(one.run(1, dying)).rejects.toThrow('dead');
  store.aheadMs = 120_000;
  expect([...store.objects.keys()]).toContain('runs/_delta_log/00000000000000000000.json');
  const before = [...store.objects.keys()].filter((key) => !key.includes('/lock/'));
  await one.hold();
  expect(await readPublished(store)).toEqual({ runs: 0, datasets: 0 });
  expect([...store.objects.keys()]).toEqual(expect.arrayContaining(before));
  // Without the small files, which are sent last.
  store.objects.delete('lake.json');
  expect(await failure(other.hold())).toMatchObject({
    code: 'lake_invalid',
    message: `${store.url}: the first upload of the lake was interrupted`,
    facts: { hint: 'Run `pricelake sync` on the machine that has the lake, or empty the prefix.' },
  });
});

test('files that no reader needs are deleted from the remote, but not early', async () => {
  const { store, machine, io } = await openRemoteWorld();
  const one = await machine();
  await one.run(1);
  const [superseded = ''] = (await readRemote(store)).datasets?.files ?? [];
  await one.run(2);
  const gone = () => [`datasets/${superseded}`, 'runs/orphan.parquet'].filter((key) => !store.objects.has(key));
  const { tombstones } = await readLog(await openLake(one.path, { create: false }), 'datasets');
  const now = tombstones.get(superseded) ?? expect.unreachable(superseded);
  store.objects.set('runs/orphan.parquet', { bytes: Buffer.from('x'), writtenAt: new Date(now) });
  const holdAfter = async (ms: number) => {
    io.now = () => new Date(now + ms);
    await one.hold();
    return gone();
  };
  expect(await holdAfter(3_600_000 - 1)).toEqual([]);
  expect(await holdAfter(3_600_000)).toEqual([`datasets/${superseded}`]);
  expect(io.logged).toContain('remote.expired {"table":"datasets","files":1}');
  expect(await holdAfter(86_400_000 - 1)).toHaveLength(1);
  expect(await holdAfter(86_400_000)).toHaveLength(2);
  expect(io.logged.match(/remote.expired/g)).toHaveLength(2);
});

test('log entries before a checkpoint are deleted from the remote after 30 days', async () => {
  const { store, machine, io } = await openRemoteWorld();
  const one = await machine();
  await one.run(1);
  await one.run(2);
  const log = (name: string) => `runs/_delta_log/0000000000000000000${name}`;
  const now = Date.now();
  store.objects.set(log('1.checkpoint.parquet'), { bytes: Buffer.from('x'), writtenAt: new Date(now) });
  const holdAfter = async (ms: number) => {
    io.now = () => new Date(now + ms);
    await one.hold();
    return [store.objects.has(log('0.json')), store.objects.has(log('1.json'))];
  };
  expect(await holdAfter(30 * 86_400_000 - 1)).toEqual([true, true]);
  expect(await holdAfter(30 * 86_400_000)).toEqual([false, true]);
});

test("if the landing's copy or the release fails too, the error of the work is thrown and the rest is a warning", async () => {
  const { store, machine, io } = await openRemoteWorld();
  const one = await machine();
  await one.run(1);
  const work = one.hold(async (lake) => {
    const { folder, journal } = await beginRun(lake.root, { runNumber: 2n, pipeline: 'test', cursorFrom: null }, io);
    await journal.close();
    await writeFile(join(folder, 'feed.ndjson'), 'rows');
    store.upload = () => Promise.reject(new Error('no upload'));
    store.write = () => Promise.reject(new Error('no write'));
    throw new Error('the work failed');
  });
  await expect(work).rejects.toThrow('the work failed');
  expect(io.logged).toContain('remote.mirror_missed {"reason":"no upload"}');
  expect(io.logged).toContain('remote.release_missed {"reason":"no write"}');
});

test('a run whose version another machine has already published fails, and its hint is to run again', async () => {
  const { store, machine } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.run(1);
  await two.hold();
  const { create } = store;
  store.create = async (key, bytes) => {
    if (!key.startsWith('runs/')) return create(key, bytes);
    store.objects.set(key, { bytes: Buffer.from('another'), writtenAt: new Date() });
    return create(key, bytes);
  };
  expect(await failure(one.run(2))).toMatchObject({
    code: 'lake_locked',
    message: `${store.url}: another machine published first`,
    facts: { hint: expect.stringMatching(/^Run the same command again\. It first downloads the run/) },
  });
});

test('a missing file that a log lists is reported, and so is one with another size or content', async () => {
  const { store, machine, db } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.run(1);
  const [name = ''] = (await readRemote(store)).runs?.files ?? [];
  const object = store.objects.get(`runs/${name}`) ?? expect.unreachable(name);
  const { bytes } = object;
  const bringAll = (_lake: Lake, remote: Remote) => remote.bringAll();
  object.bytes = Buffer.concat([bytes.subarray(1), Buffer.from('x')]);
  const told = await failure(two.hold(bringAll));
  expect(told?.message).toMatch(
    /runs\/.*: has SHA-256 [0-9a-f]{64}, but should have [0-9a-f]{64} according to its log$/,
  );
  expect(told).toMatchObject({ code: 'lake_invalid', facts: { hint: expect.stringContaining('changed or damaged') } });
  object.bytes = bytes.subarray(1);
  expect((await failure(two.hold(bringAll)))?.message).toContain(
    `has ${bytes.length - 1} bytes, but should have ${bytes.length}`,
  );
  object.bytes = bytes;
  await two.hold(bringAll);
  expect(await readVersions(two)).toEqual({ runs: 0, datasets: 0 });
  const missing = one.hold(async (lake) => {
    await commitRun(db, lake, 2);
    for (const { path } of (await readTable(lake, 'datasets')).files) await rm(join(lake.root, 'datasets', path));
  });
  expect(await failure(missing)).toMatchObject({ code: 'lake_invalid', message: expect.stringMatching(/: missing$/) });
});

test('a machine that slept while another one published notices it, even if it has nothing to send', async () => {
  const { store, machine } = await openRemoteWorld();
  const [slow, fast] = [await machine(), await machine()];
  await slow.run(1);
  const late = slow.hold(async () => {
    store.aheadMs += 120_000;
    await fast.run(2);
  });
  expect(await failure(late)).toMatchObject({ code: 'lake_locked' });
  expect(await readPublished(store)).toEqual({ runs: 1, datasets: 1 });
});

test('a machine that sleeps while it publishes leaves the lake.json of a later run as it is', async () => {
  const { store, machine } = await openRemoteWorld();
  const [slow, fast] = [await machine(), await machine()];
  await slow.run(1);
  const entry = 'runs/_delta_log/00000000000000000001.json';
  let sleeps = 0;
  const asleep = dieAt(store, async (what) => {
    if (what !== 'read lake.json' || !store.objects.has(entry) || ++sleeps > 1) return false;
    store.aheadMs += 120_000;
    await fast.run(3);
    return false;
  });
  expect(await failure(slow.run(2, asleep))).toMatchObject({ code: 'lake_locked' });
  expect(sleeps).toBe(1);
  expect(await readPublished(store)).toEqual({ runs: 2, datasets: 2 });
});

test('files that were sent are not listed again while the lease is held', async () => {
  const { store, machine, db } = await openRemoteWorld();
  const one = await machine();
  const { list } = store;
  const listed: string[] = [];
  store.list = (prefix, ...more) => {
    listed.push(prefix);
    return list(prefix, ...more);
  };
  await one.run(1);
  const countLists = async (work: Parameters<typeof one.hold>[0]) => {
    listed.length = 0;
    await one.hold(work);
    return listed.filter((prefix) => prefix === 'runs/').length;
  };
  expect(await countLists(async () => {})).toBe(1);
  const { write } = store;
  const written: string[] = [];
  store.write = (key, bytes) => {
    written.push(key);
    return write(key, bytes);
  };
  await one.hold();
  expect(written.filter((key) => !key.startsWith('_pricelake/lock/'))).toEqual([]);
  store.objects.set('ATTRIBUTION.md', { bytes: Buffer.from('of an older run'), writtenAt: new Date() });
  await rm(join(one.path, 'ATTRIBUTION.md'), { force: true });
  await one.hold();
  expect(store.objects.has('ATTRIBUTION.md')).toBe(false);
  const publishTwice = async (lake: Lake, remote: Remote) => {
    await commitRun(db, lake, 2);
    await remote.publish();
  };
  expect(await countLists(publishTwice)).toBe(2);
  expect(await readPublished(store)).toEqual({ runs: 1, datasets: 1 });
});

test('entries of concurrently committed tables are sent concurrently, and the others in order', async () => {
  const { store, machine, db } = await openRemoteWorld();
  const one = await machine();
  const { create } = store;
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  let most = 0;
  store.create = async (key, bytes) => {
    const table = /^(\w+)\/_delta_log\//.exec(key)?.[1];
    if (table === undefined) return create(key, bytes);
    sent.push(table);
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      most = Math.max(most, waiting.length);
      setImmediate(() => waiting.splice(0).forEach((go) => void go()));
    });
    return create(key, bytes);
  };
  await one.hold(async (lake) => {
    const at = new Date();
    const info = { at, applied: { run: 1n } };
    await write(db, lake, { table: 'runs', select: select('runs', { run_id: "'r'" }), ...info });
    for (const table of ['datasets', 'rejects', 'history'] as const)
      await write(db, lake, { table, select: select(table, {}), ...info });
  });
  expect(sent[0]).toBe('history');
  expect(sent.slice(1, 3).sort()).toEqual(['datasets', 'rejects']);
  expect(sent[3]).toBe('runs');
  expect(most).toBe(2);
});

test('if fetching a log ends early, no entry is missing before a later one', async () => {
  const { store, machine } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  await one.run(1);
  await two.hold();
  await one.run(2);
  await one.run(3);
  const { download } = store;
  store.download = async (key, path, maxBytes) => {
    if (key !== 'runs/_delta_log/00000000000000000001.json') return download(key, path, maxBytes);
    await setTimeout(50);
    throw new Error('dead');
  };
  expect(String(await failure(two.hold()))).toContain('dead');
  store.download = download;
  await two.run(4);
  expect(await readVersions(two)).toEqual({ runs: 3, datasets: 3 });
  // Earlier versions may have left one.
  await one.run(5);
  await rm(join(two.path, 'runs', '_delta_log', '00000000000000000002.json'));
  await two.run(6);
  expect(await readVersions(two)).toEqual({ runs: 5, datasets: 5 });
  await one.run(7);
  await rm(join(two.path, 'runs', '_delta_log', '00000000000000000000.json'));
  await two.run(8);
  expect(await readVersions(two)).toEqual({ runs: 7, datasets: 7 });
});

test("a lake that isn't a copy of the remote is left untouched, and so is a prefix without a lake", async () => {
  const { store, machine } = await openRemoteWorld();
  const [one, other] = [await machine(), await machine()];
  await other.run(1);
  await rm(join(other.path, '_pricelake', 'remote.json'));
  store.objects.clear();
  await one.run(1);
  expect(await failure(other.hold())).toMatchObject({
    code: 'lake_invalid',
    message: `${other.path}: contains a lake that is not a copy of ${store.url}`,
    facts: { hint: expect.stringMatching(/^Set lake.path to an empty folder/) },
  });
  expect(await readVersions(other)).toEqual({ runs: 0, datasets: 0 });
  expect(await readHolder(store)).toBeUndefined();
  store.objects.clear();
  store.objects.set('photo.jpg', { bytes: Buffer.from('x'), writtenAt: new Date() });
  expect(await failure(one.hold())).toMatchObject({
    code: 'lake_invalid',
    message: `${store.url}: not a lake: it contains photo.jpg; nothing was changed`,
    facts: { hint: 'Set lake.remote to an empty bucket, or to its own prefix.' },
  });
  expect([...store.objects.keys()]).toEqual(['photo.jpg']);
});

// I10 of SPEC.md
test('a kill at any request leaves complete versions, and this machine and another one can continue', async () => {
  let remote = makeMemoryStore();
  const open = async () => {
    remote = makeMemoryStore();
    return remote;
  };
  const putAhead = (ms: number) => {
    remote.aheadMs = ms;
  };
  expect(await killAtRequests({ open, putAhead }, 5)).toBeGreaterThan(8);
});

test("landed files stay on the remote until their tables are published, even if the run's end is recorded", async () => {
  const { store, machine, io } = await openRemoteWorld();
  const [one, two] = [await machine(), await machine()];
  const landed = () => [...store.objects.keys()].filter((key) => key.startsWith('_pricelake/landing/'));
  const dying = one.hold(async (lake, remote) => {
    const { folder, journal } = await beginRun(lake.root, { runNumber: 1n, pipeline: 'test', cursorFrom: null }, io);
    await writeFile(join(folder, 'feed.ndjson'), 'rows');
    await remote.saveLanding();
    await writeFile(join(folder, 'feed.ndjson'), 'more rows');
    await journal.append(...TO_END, { type: 'end', at: new Date().toISOString() });
    await journal.close();
    throw new Error('the upload failed');
  });
  await expect(dying).rejects.toThrow('the upload failed');
  expect(landed()).toHaveLength(2);
  await two.hold(async (lake) => {
    const run = await peekUnfinishedRun(lake.root, 0n);
    expect(await readFile(join(run?.folder ?? '', 'feed.ndjson'), 'utf8')).toBe('rows');
  });
  expect(landed()).toHaveLength(2);
  // Its tables are published, so its landed files are kept only in the local folder.
  await two.run(1);
  expect(await readdir(join(two.path, '_pricelake', 'landing'))).toHaveLength(1);
  expect(landed()).toEqual([]);
});

/** More by `ROUNDS=1000 npx vitest run test/remote/remote.test.ts -t race`. */
const ROUNDS = Number(process.env.ROUNDS ?? 4);

test(
  'of machines that race for the remote, only one works at a time, and every version exists once',
  async () => {
    const { store, machine } = await openRemoteWorld();
    const random = createSeeded(7).fraction;
    const slow = slowDown(store, random);
    const machines = [await machine(), await machine()];
    let published = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const runs = machines.map(async (one) => {
        if (random() < 0.5) await setTimeout(random() * 60);
        return failure(one.run(round + 1, slow));
      });
      const faults = (await Promise.all(runs)).filter((fault) => fault !== undefined);
      expect(faults.map(({ code }) => code)).toEqual(faults.map(() => 'lake_locked'));
      published += machines.length - faults.length;
      expect(await readRemote(store)).toMatchObject({
        runs: { version: published - 1 },
        datasets: { version: published - 1 },
      });
    }
    expect(published).toBeGreaterThanOrEqual(ROUNDS);
  },
  60_000 + ROUNDS * 3_000,
);

/** Delays each request, so that those of two writers arrive in any order. */
function slowDown(store: ObjectStore, random: () => number): ObjectStore {
  return new Proxy(store, {
    get(target, name: keyof ObjectStore) {
      const value = target[name];
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (random() < 0.3) await setTimeout(random() * 3);
        return (value as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}
