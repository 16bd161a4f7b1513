import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { FEED_DELAY_MS, parseClockMode, SimulatedClock, speedOf } from '../../src/sandbox/clock.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { liveOn } from '../../src/sandbox/world/advance-world.js';
import { generateWorld } from '../../src/sandbox/world/generate-world.js';
import { World } from '../../src/sandbox/world/world.js';

const START = new Date('2026-11-20T06:00:00Z');
const HOUR = 3_600_000;

describe('a clock mode', () => {
  it.each([
    ['frozen', 0],
    ['real', 1],
    ['60x', 60],
    ['0.5x', 0.5],
  ])('%s runs %d times as fast as real time', (mode, speed) => {
    let wall = 5000;
    const clock = new SimulatedClock(START, parseClockMode(mode), () => wall);
    wall += 10_000;
    expect(clock.now() - START.getTime()).toBe(10_000 * speed);
    clock.moveTo(START.getTime() + HOUR);
    wall += 2000;
    expect(clock.now() - START.getTime()).toBe(HOUR + 2000 * speed);
    expect(speedOf(clock.mode)).toBe(speed);
    expect(clock.secondsTo(new Date(clock.now() + HOUR))).toBe(3600 / (speed || 1));
  });

  it.each(['fast', '60', '0x', '-1x', '1e9x', '100001x', 'x'])('%s is refused with the allowed modes', (mode) => {
    expect(() => parseClockMode(mode)).toThrow(/must be frozen, real, or a speed such as 60x/);
  });
});

test('the Date header of every response, including faults, has the simulated time', async () => {
  const sandbox = await startSandbox({ items: 20, sites: 2, startAt: START, faults: ['plan:html@2'] });
  onTestFinished(sandbox.close);
  const headers = { authorization: `Bearer ${sandbox.keys.live}` };
  const ask = async () => (await fetch(`${sandbox.baseUrl}/api/v1/plan`, { headers })).headers.get('date');
  expect([await ask(), await ask()]).toEqual(Array(2).fill(START.toUTCString()));
  await sandbox.advance({ hours: 5 });
  expect(await ask()).toBe(new Date(START.getTime() + 5 * HOUR).toUTCString());
});

describe('a world with a running clock', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create();
    await generateWorld(world, { seed: 1, items: 400, sites: 8, startAt: START.getTime(), pastDays: 90 });
    world.livedUntil = START.getTime();
  });
  afterAll(() => world.close());

  it('changes at its own pace, in order and up to the current time, without losing fractions of a change', async () => {
    const before = world.feed.length;
    let wall = 0;
    const clock = new SimulatedClock(START, '3600x', () => wall);
    const stop = new AbortController();
    // Steps of a quarter of an hour have 0.8 changes each, which means none or one.
    const sleep = async () => {
      if (wall === 5000) stop.abort();
      wall += 250;
    };
    await liveOn(world, clock, stop.signal, sleep);
    const fresh = Array.from({ length: world.feed.length - before }, (_, k) =>
      JSON.parse(world.feed.rows.row(before + k).toString()),
    );
    expect(fresh).toHaveLength(16);
    const times = fresh.map(({ observedAt }) => Date.parse(observedAt));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(START.getTime());
    expect(times.at(-1)).toBeLessThanOrEqual(world.livedUntil);
    expect(world.livedUntil).toBeGreaterThan(START.getTime() + 4 * HOUR);
  });

  it('shows every change in the feed within 30 simulated seconds, at any speed', async () => {
    const known = world.feed.length;
    let wall = 0;
    const clock = new SimulatedClock(new Date(world.livedUntil), '3600x', () => wall);
    const stop = new AbortController();
    // A step takes a tenth of a second here, which is six minutes of the sandbox's time.
    const { use } = world.database;
    world.database.use = (work) =>
      use.call(world.database, async (session) => {
        wall += 100;
        return work(session);
      }) as never;
    const seen: { due: number; now: number }[] = [];
    const sleep = async () => {
      for (let row = known + seen.length; row < world.feed.length; row++) {
        const { observedAt } = JSON.parse(world.feed.rows.row(row).toString());
        seen.push({ due: Date.parse(observedAt) + FEED_DELAY_MS, now: clock.now() });
      }
      if (wall > 4000) stop.abort();
      wall += 250;
    };
    await liveOn(world, clock, stop.signal, sleep);
    world.database.use = use;
    expect(seen.length).toBeGreaterThan(5);
    for (const { due, now } of seen) expect(now).toBeLessThan(due);
  });

  it('rests between two steps, at least nine times as long as a step takes', async () => {
    const waits: number[] = [];
    const stop = new AbortController();
    const sleep = async (ms: number) => {
      waits.push(ms);
      if (waits.length === 2) stop.abort();
    };
    await liveOn(world, new SimulatedClock(new Date(world.livedUntil + HOUR), 'real', () => 0), stop.signal, sleep);
    expect(waits[0]).toBe(1000);
    expect(waits[1]).toBeGreaterThanOrEqual(1000);
  });
});
