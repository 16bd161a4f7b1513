import { afterEach, expect, test } from 'vitest';
import { estimateWithWings } from '../../src/wings/index.js';
import { openWorld, refuse, testIo, type World, type WorldOptions } from './world.js';

let world: World;
afterEach(() => world.close());

/** The service answers 401 to matching requests. */
let refused: RegExp | undefined;

async function openSmall(options: WorldOptions): Promise<void> {
  refused = undefined;
  world = await openWorld({
    items: 120,
    sites: 2,
    ...options,
    intercept: async (request, next) =>
      refused?.test(request.url)
        ? refuse(401)
        : next(new Request(request.url.replace('limit=1000', 'limit=20'), { headers: request.headers })),
  });
}

/** Estimates with the clock of the runs. */
const estimate = () => {
  const now = () => new Date(Date.now() + world.clock.days * 24 * 3600 * 1000);
  return estimateWithWings(world.pipeline, { ...testIo, now });
};

async function expectSame(): Promise<void> {
  const said = await estimate();
  const { row } = await world.sync();
  expect([said.mode, said.reason, said.exportRows]).toEqual([row.mode, row.reason, row.export_rows]);
}

test("a run that paused for longer than the plan's history is decided again, and so is the estimate", async () => {
  await openSmall({ limits: { historyDays: 7 } });
  await world.sync();
  await world.sandbox.advance({ hours: 2, changes: 50 });
  refused = /changes\?after=/;
  await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  refused = undefined;
  world.clock.days = 10;
  await world.sandbox.advance({ hours: 240, changes: 60 });
  expect((await estimate()).mode).toBe('snapshot');
  await expectSame();
});

test('without history and cursor, the feed starts at the low watermark, and so does the estimate', async () => {
  const free = { exportRowsPerMonth: 5_000, datasets: null, delayHours: 0 };
  await openSmall({ plan: 'free', limits: free, history: 'none' });
  await world.sync();
  world.sandbox.changeAccount({ plan: 'pro', limits: { ratePerSecond: null } });
  await world.sandbox.advance({ hours: 2, changes: 5 });
  world.requests.length = 0;
  const said = await estimate();
  const feedAsked = () => world.requests.filter((request) => request.startsWith('/changes?'));
  expect([said.mode, feedAsked()]).toEqual(['poll', []]);
  expect(said.steps.find(({ step }) => step === 'feed')).toMatchObject({
    exact: false,
    basis: 'about 0 changes to apply',
  });
  await world.sync();
  expect(feedAsked()[0]).not.toContain('after=0');
});
