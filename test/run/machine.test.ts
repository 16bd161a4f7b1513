/** The memory, threads and disk space that a run uses. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import type { Io } from '../../src/io/io.js';
import { openSession } from '../../src/lake/session.js';
import { estimateWithWings, syncWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { openWorld, readItems, testIo, type World } from './world.js';

const GIB = 1024 ** 3;

let world: World;
beforeAll(async () => {
  world = await openWorld({ items: 2_000, sites: 3, pastDays: 333 });
});
afterAll(() => world.close());

/** Sets the free disk space of every path until the test ends. */
function setFreeBytes(bytes: number): void {
  const { statfs } = fs;
  const use = (one: typeof statfs) => {
    Object.assign(fs, { statfs: one });
    syncBuiltinESMExports();
  };
  use((async (path: string) => ({ ...(await statfs(path)), bsize: 1, bavail: bytes })) as typeof statfs);
  onTestFinished(() => use(statfs));
}

function setMemory(bytes: number): void {
  const spy = vi.spyOn(process, 'constrainedMemory').mockReturnValue(bytes);
  onTestFinished(() => spy.mockRestore());
}

/** The facts that a run logs about its machine. */
async function readLogged(): Promise<Record<string, unknown> | undefined> {
  const logged: Record<string, unknown>[] = [];
  const log: Io['log'] = (_level, event, facts = {}) => {
    if (event === 'run.machine') logged.push(facts);
  };
  const io: Io = { ...testIo, log };
  await syncWithWings(world.pipeline, io);
  return logged[0];
}

test('a run logs its memory, threads and disk space within the limit of its container', async () => {
  setMemory(2 * GIB);
  const { threads } = (await readLogged()) ?? {};
  expect(threads).toBeGreaterThan(0);
  expect(await readLogged()).toMatchObject({ memory: GIB / 2, mostMemory: Math.floor((2 * GIB) / 3), threads });
  world.pipeline.lake.memory = 300e6;
  expect(await readLogged()).toMatchObject({ memory: 300e6, mostMemory: 300e6, machineMemory: 2 * GIB });
  world.renew();
});

test('DuckDB gets half a GiB, or up to a third of the container’s or machine’s memory if a query needs more', async () => {
  const read = async () => {
    const session = await openSession();
    const memory = async () => (await session.db.row("SELECT current_setting('memory_limit') AS memory"))?.memory;
    const first = await memory();
    await session.db.run("SET memory_limit = '20MB'");
    await session.db.run(
      'SELECT max(len(v)) FROM (SELECT list(md5(CAST(range AS VARCHAR))) AS v FROM range(400000) GROUP BY range % 7)',
    );
    const raised = await memory();
    await session.close();
    return [first, raised];
  };
  setMemory(3 * GIB);
  expect(await read()).toEqual(['512.0 MiB', '1.0 GiB']);
  // Without a limit, control groups report more than any machine's memory, and other systems report 0.
  setMemory(2 ** 64);
  const ofMachine = await read();
  setMemory(0);
  expect(await read()).toEqual(ofMachine);
});

test("a first copy that doesn't fit on the disk ends before it requests an export, and plan reports this", async () => {
  setFreeBytes(1e6);
  world.requests.length = 0;
  const error = await failure(world.sync());
  expect([error.code, exitCodeOf(error)]).toEqual(['disk_full', 1]);
  expect(error.message).toMatch(/1\.0 MB free, but a run of 2,\d+ items and 0 changes needs about \d\.\d MB$/u);
  expect(error.facts).toMatchObject({ freeBytes: 1e6, hint: expect.stringContaining('run the same command again') });
  expect(world.requests.filter((request) => /^\/(export|items\?.*page)/u.test(request))).toEqual([]);
  const { refusal, disk } = await estimateWithWings(world.pipeline, testIo);
  expect(refusal).toMatchObject({ code: 'disk_full' });
  expect(disk).toMatchObject({ free: 1e6 });
  expect(disk.needed).toBeGreaterThan(error.facts.neededBytes as number);
});

test('with more disk space, the next run copies everything', async () => {
  setFreeBytes(1e9);
  expect((await estimateWithWings(world.pipeline, testIo)).refusal).toBeUndefined();
  await world.sync();
  expect((await readItems(world.lakePath)).size).toBeGreaterThan(1_900);
});

test("changes that don't fit on the disk end a run at the page that shows this, for any distances between ids", async () => {
  await world.sandbox.advance({ hours: 24, changes: 4_000 });
  world.renew();
  // Enough space for the items, but not for all their past changes.
  setFreeBytes(9e6);
  const error = await failure(world.sync());
  expect(error).toMatchObject({
    code: 'disk_full',
    message: expect.stringMatching(/ 0 items and [\d,]+ changes needs/u),
  });
  expect(world.requests.filter((request) => request.startsWith('/changes?'))).toHaveLength(3);
});
