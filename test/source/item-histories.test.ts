import { afterEach, expect, test } from 'vitest';
import { estimateWithWings, rebuildWithWings } from '../../src/wings/index.js';
import {
  changeText,
  openWorld,
  readItems,
  readLake,
  readTruth,
  refuse,
  testIo,
  type World,
  type WorldOptions,
} from '../run/world.js';

let world: World;
/** Changes the service before it answers a request, or replaces the answer. */
let happen: ((request: Request) => Promise<unknown>) | undefined;
afterEach(() => world.close());

const FREE: WorldOptions = {
  plan: 'free',
  limits: { exportRowsPerMonth: 5000, datasets: null, historyDays: 365, delayHours: 0, ratePerSecond: null },
};

async function open(options: WorldOptions): Promise<void> {
  happen = undefined;
  const intercept: WorldOptions['intercept'] = async (request, next) => {
    const answer = await happen?.(request);
    return answer instanceof Response ? answer : next(request);
  };
  world = await openWorld({ items: 90, sites: 2, pastDays: 6, intercept, ...options });
  world.pipeline.source.history = 'items';
}

const asked = () => world.requests.filter((request) => request.endsWith('/history'));

/** The item, kind and time of each history row, sorted. */
async function readHistory(): Promise<string[]> {
  const rows = await readLake(
    world.lakePath,
    (glob) => `SELECT item_id, kind, epoch_us(observed_at) FROM ${glob('history')}`,
  );
  return rows.map((row) => row.join(' ')).sort();
}

/** The same for all changes in the service. */
async function readChanges(): Promise<string[]> {
  const { changes } = await world.sandbox.dump();
  return changes
    .map((line) => {
      const pick = (pattern: RegExp) => pattern.exec(line)?.[1] as string;
      const time = pick(/"observedAt":"([^"]+)"/);
      const micros = (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(6, '0').slice(0, 6);
      const at = BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1000n + BigInt(micros);
      return `${pick(/"item":\{"id":(\d+)/)} ${pick(/"kind":"(\w+)"/)} ${at}`;
    })
    .sort();
}

test("a first copy without the feed reads each item's history with one call, and later runs read those of new items", async () => {
  await open(FREE);
  const said = await estimateWithWings(world.pipeline, testIo);
  const { row, histories } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot', items: 90n });
  expect(histories).toMatchObject({ asked: 90, left: 0 });
  expect(asked()).toHaveLength(90);
  expect(said.steps.find(({ step }) => step === 'histories')?.calls).toBeGreaterThanOrEqual(92);
  expect(await readHistory()).toEqual(await readChanges());
  const ledger = await readLake(
    world.lakePath,
    (glob) =>
      `SELECT count(*), count(usage_calls), bool_and(calls = coalesce(usage_calls, calls)) FROM ${glob('runs')}`,
  );
  expect(ledger).toEqual([['2', '2', 'true']]);

  await world.sandbox.advance({ hours: 3, changes: 60 });
  const second = await world.sync();
  expect(second.row.mode).toBe('poll');
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  const fresh = Number(second.row.items) - 90;
  expect(fresh).toBeGreaterThan(0);
  expect(asked()).toHaveLength(90);
  expect((await world.sync()).histories).toMatchObject({ asked: fresh, left: 0 });
  expect(asked()).toHaveLength(90 + fresh);
  expect(new Set(asked()).size).toBe(90 + fresh);
});

test('histories are read with the available calls, continued when calls are available again, and never read twice', async () => {
  await open({ ...FREE, limits: { ...FREE.limits, apiCallsPerMonth: 120 } });
  const { histories } = await world.sync();
  const { asked: first = 0, left = 0 } = histories ?? {};
  expect(first).toBeGreaterThan(10);
  expect(first + left).toBe(90);
  const reasons = () => readLake(world.lakePath, (glob) => `SELECT reason FROM ${glob('runs')} ORDER BY run_number`);
  expect((await reasons()).at(-1)?.[0]).toContain(`; the histories of ${left} items are still to be read`);
  expect(await world.sync()).toMatchObject({ published: false, histories: { asked: 0, left } });
  await world.sandbox.advance({ hours: 11 * 24, changes: 1 });
  const said = await estimateWithWings(world.pipeline, testIo);
  const next = await world.sync();
  expect(next.histories).toMatchObject({ asked: Math.min(left, 58 - 2), left: expect.any(Number) });
  expect(said.steps.find(({ step }) => step === 'histories')?.calls).toBe((next.histories?.asked ?? 0) + 2);
  expect(asked()).toHaveLength(new Set(asked()).size);
});

test("changes between the histories and the following run's poll are added by the poll", async () => {
  await open(FREE);
  let polls = 0;
  const moved: string[] = [];
  happen = async (request) => {
    if (!request.url.includes('changedSince') || polls++ > 0) return;
    const before = (await world.sandbox.dump()).changes.length;
    await world.sandbox.advance({ hours: 3, changes: 20 });
    moved.push(...(await world.sandbox.dump()).changes.slice(before));
  };
  await world.sync();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  const history = new Set((await readHistory()).map((row) => row.split(' ')[0]));
  expect(moved.length).toBe(20);
  expect(history.size).toBe((await readTruth(world.sandbox)).size);
  const last = new Map((await readChanges()).map((row) => [row.split(' ')[0], row]));
  const told = new Set(await readHistory());
  expect([...last.values()].filter((row) => !told.has(row))).toEqual([]);
});

test('with the feed, no event is lost or duplicated between item histories and the feed', async () => {
  await open({ limits: { ratePerSecond: null } });
  await world.sync();
  expect(await readHistory()).toEqual(await readChanges());
  await world.sandbox.advance({ hours: 3, changes: 60 });
  await world.sync();
  expect(await readHistory()).toEqual(await readChanges());
  await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
  expect(await readHistory()).toEqual(await readChanges());
  expect(asked()).toHaveLength(new Set(asked()).size);
});

test("an item's changes of the same kind at the same time are all kept, and the lake can still be synced", async () => {
  const toMonth = (text: string) => text.replaceAll(/("observedAt":"\d{4}-\d\d)[^"]+/g, '$1-01T00:00:00Z');
  await open({ ...FREE, pastDays: 40, intercept: changeText(/\/history$/, toMonth) });
  const { histories } = await world.sync();
  expect(histories).toMatchObject({ asked: 90, left: 0 });
  const told = (await readChanges()).map((row) => {
    const [item, kind, at] = row.split(' ');
    const month = new Date(Number(at) / 1000).toISOString().slice(0, 7);
    return `${item} ${kind} ${Date.parse(`${month}-01`)}000`;
  });
  expect(new Set(told).size).toBeLessThan(told.length);
  expect(await readHistory()).toEqual(told.sort());
  await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
  expect(await readHistory()).toEqual(told);
  await world.sandbox.advance({ hours: 3, changes: 60 });
  expect((await world.sync()).published).toBe(true);
});

test('histories that the service refuses for lack of calls wait, and the following run continues without them', async () => {
  await open(FREE);
  let answered = 0;
  happen = async ({ url }) =>
    url.endsWith('/history') && ++answered > 30 ? refuse(429, { limit: 'apiCallsPerMonth' }) : undefined;
  const { published, histories } = await world.sync();
  const runId = expect.stringMatching(/^000002-/);
  expect({ published, histories }).toEqual({ published: true, histories: { asked: 0, left: 90, runId } });
  expect(await world.sync()).toMatchObject({ histories: { asked: 0 } });
  happen = undefined;
  const { asked: last = 0 } = (await world.sync()).histories ?? {};
  expect(last).toBeGreaterThan(0);
  expect(last).toBeLessThanOrEqual(60);
  expect(await readHistory()).toEqual(await readChanges());
});

test('a key without access to histories fails the command, and an unfinished run is finished before any are read', async () => {
  await open(FREE);
  const refused = (path: string) => async (request: Request) =>
    new URL(request.url).pathname.endsWith(path) ? refuse(401) : undefined;
  happen = refused('/history');
  await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  world.pipeline.source.history = 'none';
  await world.sandbox.advance({ hours: 3, changes: 60 });
  happen = refused('/datasets');
  await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  world.pipeline.source.history = 'items';
  happen = undefined;
  const before = asked().length;
  const said = await estimateWithWings(world.pipeline, testIo);
  expect(said.steps.map(({ step }) => step)).not.toContain('histories');
  const { resumed, histories, row } = await world.sync();
  expect({ resumed, histories }).toEqual({ resumed: true, histories: { asked: 0, left: 0, runId: row.run_id } });
  expect(asked()).toHaveLength(before);
  expect((await estimateWithWings(world.pipeline, testIo)).steps.map(({ step }) => step)).toContain('histories');
  expect((await world.sync()).histories?.asked).toBeGreaterThan(0);
});
