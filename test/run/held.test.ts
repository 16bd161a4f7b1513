import { cp } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Pipeline } from '../../src/config/pipeline-file.js';
import { syncWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { changeText, makePipeline, openWorld, readItems, readLake, readTruth, testIo } from './world.js';

/** A lake whose first batch is held because of invalid currencies. */
let held: string;
let lakes = 0;
let pipeline: Pipeline;

const world = await openWorld({
  items: 60,
  sites: 2,
  history: 'none',
  intercept: changeText(/export/, (text) => text.replaceAll(/"currency":"[A-Z]+"/g, '"currency":"XXQ"')),
});
beforeAll(async () => {
  held = `${world.folder}/held`;
  pipeline = preparePipeline(held);
  expect(await failure(syncWithWings(pipeline, testIo))).toMatchObject({ code: 'gate_failed' });
});
afterAll(() => world.close());

function preparePipeline(lakePath: string) {
  return {
    ...makePipeline(world.sandbox, lakePath, { history: 'none' }),
    checks: { currency_iso_4217: { severity: 'gate' as const } },
  };
}

beforeEach(async () => {
  pipeline = preparePipeline(`${world.folder}/lake-${++lakes}`);
  await cp(held, pipeline.lake.path, { recursive: true });
  world.requests.length = 0;
});

const readLetThrough = () =>
  readLake(pipeline.lake.path, (glob) => `SELECT name FROM ${glob('check_results')} WHERE let_through ORDER BY name`);

describe('a held batch', () => {
  // I5 of SPEC.md
  test('is held again without a call if nothing has changed, and the log says once what to do next', async () => {
    const logs: unknown[][] = [];
    const log = (level: string, event: string, facts?: object) => logs.push([level, event, facts]);
    expect(await failure(syncWithWings(pipeline, { ...testIo, log }))).toMatchObject({ code: 'gate_failed' });
    expect(world.requests).toEqual([]);
    const failed = { name: 'currency_iso_4217', severity: 'gate', next: expect.stringMatching(/./u) };
    expect(logs.filter(([level]) => level === 'error')).toEqual([['error', 'check', expect.objectContaining(failed)]]);
    // Checks without violations aren't logged as news.
    const found = logs.filter(([level, event]) => event === 'check' && level !== 'debug').map(([, , facts]) => facts);
    expect(found.map((facts) => (facts as { violations: bigint }).violations)).not.toContain(0n);
  });

  test('is published without a call if its gate becomes an error, which the run logs once at level warn', async () => {
    pipeline.checks = { currency_iso_4217: { severity: 'error' } };
    const logs: unknown[][] = [];
    const log = (level: string, event: string, facts?: object) => logs.push([level, event, facts]);
    expect(await syncWithWings(pipeline, { ...testIo, log })).toMatchObject({ published: true, resumed: true });
    expect(world.requests).toEqual([]);
    expect(await readLetThrough()).toEqual([]);
    const failed = { name: 'currency_iso_4217', severity: 'error', next: expect.stringMatching(/./u) };
    expect(logs.filter(([level]) => level === 'error')).toEqual([]);
    expect(logs.filter(([level, event]) => level === 'warn' && event === 'check')).toContainEqual([
      'warn',
      'check',
      expect.objectContaining(failed),
    ]);
    expect(logs.filter(([, , facts]) => (facts as { name?: string })?.name === 'currency_iso_4217')).toHaveLength(1);
  });

  test('is published by --publish-held without a call, and check_results records the check that was overridden', async () => {
    const report = await syncWithWings(pipeline, testIo, undefined, { publishHeld: true });
    expect(report).toMatchObject({ published: true, resumed: true });
    expect(world.requests).toEqual([]);
    expect(report.checks.filter((check) => check.waived).map(({ name }) => name)).toEqual(['currency_iso_4217']);
    expect(await readLetThrough()).toEqual([['currency_iso_4217']]);
    expect((await readItems(pipeline.lake.path)).size).toBe((await readTruth(world.sandbox)).size);

    const again = await failure(syncWithWings(pipeline, testIo, undefined, { publishHeld: true }));
    expect(again).toMatchObject({ code: 'nothing_held' });
    expect(again.message).toMatch(/no batch is held; its last run has ended/);
    expect(world.requests).toEqual([]);
  });

  test('that was allowed to publish is published by a plain sync if the process died in between', async () => {
    const io = {
      ...testIo,
      log: (_level: string, event: string) => {
        if (event === 'gate.waived') throw new Error('the process dies');
      },
    };
    await failure(syncWithWings(pipeline, io, undefined, { publishHeld: true }));
    expect(await syncWithWings(pipeline, testIo)).toMatchObject({ published: true });
    expect(await readLetThrough()).toEqual([['currency_iso_4217']]);
    expect(world.requests).toEqual([]);
  });
});

describe('--publish-held', () => {
  test("leaves an interrupted run to sync, and doesn't create a lake", async () => {
    const lakePath = `${world.folder}/lake-${++lakes}`;
    const other = { ...makePipeline(world.sandbox, lakePath, { history: 'none' }) };
    expect(await failure(syncWithWings(other, testIo, undefined, { publishHeld: true }))).toMatchObject({
      code: 'lake_invalid',
    });
    const io = {
      ...testIo,
      log: (_level: string, event: string) => {
        if (event === 'settled') throw new Error('the process dies');
      },
    };
    await failure(syncWithWings(other, io));
    const error = await failure(syncWithWings(other, testIo, undefined, { publishHeld: true }));
    expect(error.message).toMatch(/no batch is held; run 1 was interrupted/);
    expect(await syncWithWings(other, testIo)).toMatchObject({ published: true, resumed: true });
  });
});
