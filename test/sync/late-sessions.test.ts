import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { syncPipeline } from '../../src/sync/sync.js';
import { delaySessions } from '../late-sessions.js';
import { STORIES } from './stories.js';
import { openWorld, readItems, readLake, readTruth, testIo, type World } from './world.js';

/** Every session but the first is late at each step. */
async function syncLate(world: World): Promise<void> {
  const late = delaySessions((session) => session > 0);
  try {
    const { row } = await world.sync();
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  } finally {
    late.end();
  }
  expect([...late.held]).toEqual(expect.arrayContaining([1, 2]));
}

/** The lake has the items of its datasets as the service has them, and no others. */
async function expectExactCopy({ sandbox, lakePath }: World): Promise<void> {
  const names = (await readLake(lakePath, (glob) => `SELECT name FROM ${glob('datasets')}`)).flat();
  const isCopied = (row: string[]) => row.some((text) => text.split('|').some((name) => names.includes(name)));
  const truth = [...(await readTruth(sandbox))].filter(([, row]) => isCopied(row));
  expect(truth.length).toBeGreaterThan(10);
  expect(await readItems(lakePath)).toEqual(new Map(truth));
}

describe.each(Object.entries(STORIES))('runs %s are exact though all sessions but one are late', (_name, story) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(story.options);
  });
  afterAll(() => world.close());

  test.each(story.runs)('%s', async (_run, before) => {
    await before(world);
    await syncLate(world);
    await expectExactCopy(world);
  });
});

test('a run that ended when all had landed and nothing was typed goes on, and asks for nothing twice', async () => {
  const world = await openWorld({ items: 60, sites: 3 });
  onTestFinished(() => world.close());
  await world.sync();
  await world.sandbox.advance({ hours: 2, changes: 30 });
  world.pipeline.source.mode = 'snapshot';
  const stop = new AbortController();
  const progress = ({ step }: { step: string }) => {
    if (step === 'typing') stop.abort();
  };
  await expect(syncPipeline(world.pipeline, { ...testIo, progress }, stop.signal)).rejects.toThrow();
  expect(world.requests).toContain('/datasets');

  world.requests.length = 0;
  world.pipeline.source.mode = 'auto';
  await syncLate(world);
  expect(world.requests.filter((request) => /^\/(export|changes|datasets)/.test(request))).toEqual([]);
  await expectExactCopy(world);
});
