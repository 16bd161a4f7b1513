import { describe, expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import type { BrokenExport } from '../../src/journal/memory.js';
import { countAttempts, findRetryAt, isBreak, isLoss } from '../../src/plan/broken-exports.js';

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
