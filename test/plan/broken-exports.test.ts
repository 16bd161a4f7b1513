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

describe('an export that broke off', () => {
  test('in no run has all attempts of a run', () => {
    expect(countAttempts(undefined, 3, AT)).toBe(3);
  });

  test('in one run is tried once by the next, whenever that is', () => {
    expect(countAttempts(broken(1), 3, AT)).toBe(1);
  });

  test('by a clock that was ahead is not waited for', () => {
    expect(countAttempts(broken(5), 3, new Date(AT.getTime() - 1))).toBe(1);
  });

  test.each([
    [2, 1],
    [3, 2],
    [4, 4],
    [9, 128],
    [10, 168],
    [1000, 168],
  ])('in %i runs is tried again after %i hours, and not before', (runs, hours) => {
    expect(findRetryAt(broken(runs))).toEqual(hoursLater(hours));
    expect(countAttempts(broken(runs), 3, new Date(hoursLater(hours).getTime() - 1))).toBe(0);
    expect(countAttempts(broken(runs), 3, hoursLater(hours))).toBe(1);
  });
});

test.each<[string, PricelakeError | Error, boolean, boolean]>([
  ['a stream that ended early', new PricelakeError('unavailable', '', { midStream: true }), true, true],
  ['other rows than announced', new PricelakeError('snapshot_incomplete', ''), true, true],
  ['a body without end', new PricelakeError('contract', ''), false, true],
  ['a service that does not answer', new PricelakeError('unavailable', ''), false, false],
  ['a signal', new PricelakeError('stopped', ''), false, false],
  ['a defect of ours', new Error('x'), false, false],
])('%s: taken again %s, rows lost %s', (_what, error, again, lost) => {
  expect([isBreak(error), isLoss(error)]).toEqual([again, lost]);
});

/** The memory as the next process finds it. */
async function open(lake: Lake, io: Io) {
  const memory = await openMemory(lake, createFakeIo());
  onTestFinished(() => memory.close());
  return openExportMemory(memory, io, 'ndjson');
}

test('what broke off is remembered by the next process, run by run, until it comes whole', async () => {
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

test('a copy waits for its own exports alone', async () => {
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
