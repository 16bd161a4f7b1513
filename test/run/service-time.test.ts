import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { chooseServiceTime } from '../../src/wings/daily/service-time.js';
import { rebuildWithWings, syncWithWings } from '../../src/wings/index.js';
import { openWorld, readLake, testIo, type World } from './world.js';

const at = (text: string) => new Date(`2026-11-${text}:00Z`);

describe('the time by which days are closed', () => {
  it.each([
    ["is the Date header's", { date: '20T12:00', seen: '20T11:00', local: '27T12:00' }, '20T12:00'],
    [
      "is the Date header's if the service is ahead",
      { date: '27T12:00', seen: '27T11:00', local: '20T12:00' },
      '27T12:00',
    ],
    ["is the Date header's if no row has a time", { date: '20T12:00', local: '27T12:00' }, '20T12:00'],
    [
      "is the Date header's if rows are ahead of it",
      { date: '20T12:00', seen: '25T11:00', local: '20T12:00' },
      '20T12:00',
    ],
    [
      'is the newest time in rows if the Date header is more than a day ahead of it',
      { date: '27T12:00', seen: '20T11:00', local: '27T12:00' },
      '20T11:00',
    ],
    ['is the newest time in rows without a valid header', { seen: '20T11:00', local: '27T12:00' }, '20T11:00'],
    ["is this machine's without a header if rows are ahead of it", { seen: '27T11:00', local: '20T12:00' }, '20T12:00'],
    ["is this machine's if there is no other evidence", { local: '20T12:00' }, '20T12:00'],
  ] as [string, { date?: string; seen?: string; local: string }, string][])(
    '%s',
    (_name, { date, seen, local }, expected) => {
      const evidence = { date: date && at(date), seen: seen && at(seen), local: at(local) };
      expect(chooseServiceTime(evidence as Parameters<typeof chooseServiceTime>[0])).toEqual(at(expected));
    },
  );
});

const DAY_MS = 24 * 3_600_000;

describe("if a service's clock is 250 days behind, the closed days", () => {
  let world: World;
  afterEach(() => world.close());

  const findLastDay = async () =>
    (await readLake(world.lakePath, (glob) => `SELECT max(day) FROM ${glob('price_spread_daily')}`)).join();

  it.each([
    ['sends its own time as Date', true],
    ['has a proxy that sends the real time as Date', false],
  ])('end with its yesterday, even in a rebuild, if it %s', async (_name, isOwn) => {
    let now = (Math.floor(Date.now() / DAY_MS) - 250) * DAY_MS + DAY_MS / 2;
    world = await openWorld({
      items: 200,
      sites: 5,
      startAt: new Date(now),
      intercept: async (request, next) => {
        const answer = await next(request);
        if (isOwn) answer.headers.set('date', new Date(now).toUTCString());
        return answer;
      },
    });
    await world.sync();
    await world.sandbox.advance({ hours: 24, changes: 20 });
    now += DAY_MS;
    await world.sync();
    const yesterday = new Date(now - DAY_MS).toISOString().slice(0, 10);
    expect(await findLastDay()).toBe(yesterday);
    await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
    expect(await findLastDay()).toBe(yesterday);
  });
});

it("doesn't copy all items again after a run without news at which the machine's clock was 400 days behind", async () => {
  const world = await openWorld({ items: 40, sites: 2, pastDays: 2 });
  onTestFinished(() => world.close());
  await world.sync();
  await syncWithWings(world.pipeline, { ...testIo, now: () => new Date(Date.now() - 400 * DAY_MS) });
  const { mode, export_rows } = (await world.sync()).row;
  expect({ mode, export_rows }).toEqual({ mode: 'feed', export_rows: 0n });
});
