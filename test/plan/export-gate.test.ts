import { describe, expect, test } from 'vitest';
import { type Allowance, NO_EXPORTS } from '../../src/plan/allowance.js';
import { ExportGate, readCut, readTakenExport } from '../../src/plan/export-gate.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeMemory } from '../source/fake-memory.js';

const quota = { rule: 'exportRowsPerMonth', allowed: 300n, used: 0n, monthly: true };
const FREE: Allowance = { ...NO_EXPORTS, rows: undefined, quota };
const openGate = (allowance: Partial<Allowance> = {}) =>
  new ExportGate({ ...FREE, ...allowance }, createFakeIo(), fakeMemory().memory);
const told = (rows: bigint, remaining?: bigint) => ({ rows, overage: false, remaining });

describe('concurrent exports', () => {
  test("can't together exceed what one of them may use", () => {
    const gate = openGate();
    const first = gate.hold(200n);
    expect(() => gate.require(101n)).toThrow(/needs 101 rows, but only 100 of/);
    expect(() => gate.hold(101n)).toThrow(/it would be truncated/);
    gate.hold(100n);
    first.release();
    expect(gate.left().quota).toMatchObject({ used: 100n });
  });

  test("never start a block of overage that isn't allowed", () => {
    const gate = openGate({ bills: true });
    gate.hold(300n);
    expect(() => gate.hold(1n)).toThrow(/up to 1 block of 10,000 would be billed, but no overage is allowed/);
  });

  test('respect the limits of a run', () => {
    const gate = openGate({ quota: undefined, rows: { rule: '--max-rows', allowed: 50n, used: 0n, monthly: false } });
    gate.hold(30n);
    expect(() => gate.hold(21n)).toThrow(/only 20 of the 50 allowed by --max-rows are left/);
  });

  test("are counted once, whether or not the service's remaining rows include exports in progress", () => {
    for (const remaining of [200n, 100n, undefined]) {
      const gate = openGate();
      const [first, second] = [gate.hold(100n), gate.hold(100n)];
      first.take(told(100n, remaining));
      expect(() => gate.require(100n)).not.toThrow();
      expect(() => gate.require(101n)).toThrow();
      second.take(told(100n, 100n));
      expect(gate.left().quota).toMatchObject({ allowed: 300n, used: 200n });
    }
  });

  test('subtract what other clients used in the meantime', () => {
    const gate = openGate();
    gate.hold(100n).take(told(100n, 50n));
    expect(() => gate.require(51n)).toThrow(/only 50 of/);
  });
});

describe('the headers of an export', () => {
  test('report the remaining rows of the month, including what other clients used', () => {
    expect(readTakenExport({ 'x-export-rows-remaining': '50' }, 100n)).toEqual(told(100n, 50n));
    const gate = openGate();
    gate.hold(100n).take(readTakenExport({ 'x-export-rows-remaining': '50' }, 100n));
    expect(() => gate.require(50n)).not.toThrow();
    expect(() => gate.require(51n)).toThrow(/only 50 of/);
  });

  test.each([['unlimited'], ['-1'], ['1.5'], ['9'.repeat(19)], [''], [undefined]])(
    'with remaining rows of %j are ignored',
    (remaining) => {
      const headers = remaining === undefined ? {} : { 'x-export-rows-remaining': remaining };
      expect(readTakenExport(headers, 7n)).toEqual({ rows: 7n, overage: false });
    },
  );

  test.each([
    [{}, false, undefined],
    [{ 'x-export-overage': 'false', 'x-export-truncated': 'false', 'x-export-matching': '7' }, false, undefined],
    [{ 'x-export-overage': 'true' }, true, undefined],
    [{ 'x-export-overage': 'True', 'x-export-truncated': 'FALSE' }, true, undefined],
    [{ 'x-export-overage': '1', 'x-export-truncated': '0' }, true, undefined],
    [{ 'x-export-truncated': 'true', 'x-export-matching': '9' }, false, '9'],
    [{ 'x-export-truncated': 'true' }, false, 'more'],
    [{ 'x-export-truncated': '1', 'x-export-matching': '9' }, false, '9'],
    [{ 'x-export-truncated': 'yes', 'x-export-matching': '7' }, false, '7'],
    [{ 'x-export-truncated': 'quota' }, false, 'more'],
    [{ 'x-export-matching': '9' }, false, '9'],
    [{ 'x-export-truncated': 'false', 'x-export-matching': '9' }, false, '9'],
    [{ 'x-export-truncated': '', 'x-export-matching': '' }, false, undefined],
  ])('%j: only an explicit false and equal counts prove that an export is complete', (headers, overage, matching) => {
    expect(readTakenExport(headers as Record<string, string>, 7n).overage).toBe(overage);
    expect(readCut(headers as Record<string, string>, 7n)).toBe(matching);
  });

  test('of a truncated export leave no rows for another one, even if they report remaining rows', () => {
    const headers = { 'x-export-truncated': 'true', 'x-export-rows-remaining': '200' };
    const gate = openGate();
    gate.hold(100n).take(readTakenExport(headers, 100n));
    expect(() => gate.require(1n)).toThrow(/only 0 of/);
  });
});

describe('a warning about overage without permission', () => {
  const takeAll = (allowance: Partial<Allowance>, overage: boolean) => {
    const io = createFakeIo();
    const blocks = new ExportGate({ ...FREE, bills: true, ...allowance }, io, fakeMemory().memory).take({
      rows: 10_301n,
      overage,
    });
    return [blocks, io.events.map(({ level, event, facts }) => [level, event, facts.blocks, facts.agreed])];
  };
  const WARNED = [['warn', 'export.overage_not_agreed', 2n, 1n]];

  test('is logged exactly if more blocks were billed than allowed', () => {
    expect(takeAll({ blocks: 1n }, true)).toEqual([2n, WARNED]);
    expect(takeAll({ blocks: 2n }, true)).toEqual([2n, []]);
    expect(takeAll({ blocks: null }, true)).toEqual([2n, []]);
  });

  test("isn't logged for rows within the quota, regardless of the allowed overage", () => {
    expect(takeAll({ blocks: 0n }, false)).toEqual([0n, []]);
    expect(takeAll({ blocks: 0n, quota: undefined }, false)).toEqual([0n, []]);
  });

  test("is logged for a bill that the known quota doesn't explain, because other clients have used it up", () => {
    const warned = ['warn', 'export.overage_not_agreed', 1n, 0n];
    expect(takeAll({ blocks: 0n, quota: undefined }, true)).toEqual([1n, [warned]]);
  });
});
