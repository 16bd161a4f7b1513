import { describe, expect, onTestFinished, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import type { Io } from '../../src/io/io.js';
import { type BrokenExport, openMemory } from '../../src/journal/memory.js';
import {
  countAttempts,
  findBrokenCopy,
  findRetryAt,
  isBreak,
  isLoss,
  openExportMemory,
} from '../../src/plan/broken-exports.js';
import type { Lake } from '../../src/tables/layout.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeLake } from '../lake/fixture.js';

const AT = new Date('2026-11-20T12:00:00Z');
const broken = (runs: number): BrokenExport => ({ name: 'all', runs, rows: 300n, at: AT, reason: 'cut' });
const hoursLater = (hours: number) => new Date(AT.getTime() + hours * 3600 * 1000);

describe('an interrupted export', () => {
  test('gets all attempts of a run if it was never interrupted', () => {
    expect(countAttempts(undefined, 3, AT)).toBe(3);
  });

  test('gets one attempt in the next run, at any time', () => {
    expect(countAttempts(broken(1), 3, AT)).toBe(1);
  });

  test('is attempted at once if it was recorded by a clock that was ahead', () => {
    expect(countAttempts(broken(5), 3, new Date(AT.getTime() - 1))).toBe(1);
  });

  test.each([
    [2, 1],
    [3, 2],
    [4, 4],
    [9, 128],
    [10, 168],
    [1000, 168],
  ])('that failed in %i runs is attempted again after %i hours, but not earlier', (runs, hours) => {
    expect(findRetryAt(broken(runs))).toEqual(hoursLater(hours));
    expect(countAttempts(broken(runs), 3, new Date(hoursLater(hours).getTime() - 1))).toBe(0);
    expect(countAttempts(broken(runs), 3, hoursLater(hours))).toBe(1);
  });
});

test.each<[string, PricelakeError | Error, boolean, boolean]>([
  ['a stream that ended early', new PricelakeError('unavailable', '', { midStream: true }), true, true],
  ['a different number of rows than announced', new PricelakeError('snapshot_incomplete', ''), true, true],
  ['an endless body', new PricelakeError('contract', ''), false, true],
  ["a service that doesn't respond", new PricelakeError('unavailable', ''), false, false],
  ['a signal', new PricelakeError('stopped', ''), false, false],
  ['a defect in pricelake', new Error('x'), false, false],
])('%s: is attempted again %s, loses paid rows %s', (_what, error, again, lost) => {
  expect([isBreak(error), isLoss(error)]).toEqual([again, lost]);
});

/** The memory as the next process reads it. */
async function open(lake: Lake, io: Io) {
  const memory = await openMemory(lake, createFakeIo());
  onTestFinished(() => memory.close());
  return openExportMemory(memory, io, 'ndjson');
}

test('the next process knows the interrupted exports, run by run, until they succeed', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const first = await open(lake, io);
  await Promise.all([
    first.note('site-1', { rows: 30n, reason: 'cut' }),
    first.note('site-2', { rows: 9_007_199_254_740_993n, reason: 'x'.repeat(5_000) }),
  ]);
  io.pass(60_000);
  const second = await open(lake, io);
  await second.note('site-1', { rows: 10n, reason: 'cut again' });
  expect(second.list()).toEqual([
    { name: 'site-1', runs: 2, rows: 40n, at: io.now(), reason: 'cut again' },
    expect.objectContaining({ name: 'site-2', runs: 1, rows: 9_007_199_254_740_993n, reason: 'x'.repeat(300) }),
  ]);
  await second.forget('site-1');
  await second.forget('never-heard-of');
  expect((await open(lake, io)).list()).toMatchObject([{ name: 'site-2' }]);
});

test('a copy waits only for its own exports', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const memory = await open(lake, io);
  for (const name of ['site-1', 'site-1', 'changed-items', 'changed-items', 'site-3']) {
    await memory.note(name, { rows: 1n, reason: '' });
  }
  expect(findBrokenCopy(memory.list(), io.now())).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-1'])).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-2', 'site-3'])).toBeUndefined();
  io.pass(3_600_000);
  expect(findBrokenCopy(memory.list(), io.now())).toBeUndefined();
});
