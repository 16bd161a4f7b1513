import { afterEach, describe, expect, it } from 'vitest';
import { chooseServiceTime } from '../../src/wings/daily/service-time.js';
import { rebuildWithWings } from '../../src/wings/index.js';
import { openWorld, readLake, testIo, type World } from './world.js';

const at = (text: string) => new Date(`2026-11-${text}:00Z`);

describe('the time by which days close', () => {
  it.each([
    ['is that of the Date headers', { date: '20T12:00', seen: '20T11:00', local: '27T12:00' }, '20T12:00'],
    [
      'is that of the Date headers of a service ahead',
      { date: '27T12:00', seen: '27T11:00', local: '20T12:00' },
      '27T12:00',
    ],
    ['is that of the Date headers where nothing was seen', { date: '20T12:00', local: '27T12:00' }, '20T12:00'],
    [
      'is that of the Date headers where rows are ahead of them',
      { date: '20T12:00', seen: '25T11:00', local: '20T12:00' },
      '20T12:00',
    ],
    [
      'is what rows show where the Date headers are more than a day ahead',
      { date: '27T12:00', seen: '20T11:00', local: '27T12:00' },
      '20T11:00',
    ],
    ['is what rows show without a valid header', { seen: '20T11:00', local: '27T12:00' }, '20T11:00'],
    ["is this machine's without a header where rows are ahead", { seen: '27T11:00', local: '20T12:00' }, '20T12:00'],
    ["is this machine's where nothing else tells it", { local: '20T12:00' }, '20T12:00'],
  ] as [string, { date?: string; seen?: string; local: string }, string][])(
    '%s',
    (_name, { date, seen, local }, expected) => {
      const evidence = { date: date && at(date), seen: seen && at(seen), local: at(local) };
      expect(chooseServiceTime(evidence as Parameters<typeof chooseServiceTime>[0])).toEqual(at(expected));
    },
  );
});

const DAY_MS = 24 * 3_600_000;

describe('closed days of a service whose clock is 250 days behind', () => {
  let world: World;
  afterEach(() => world.close());

  const findLastDay = async () =>
    (await readLake(world.lakePath, (glob) => `SELECT max(day) FROM ${glob('price_spread_daily')}`)).join();

  it.each([
    ['sends its time as Date', true],
    ['has a proxy that sends the right time as Date', false],
  ])('end with the last day that is over there, also in a rebuild, where it %s', async (_name, isOwn) => {
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
