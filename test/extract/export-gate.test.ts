import { describe, expect, test } from 'vitest';
import { type Allowance, NO_EXPORTS } from '../../src/extract/allowance.js';
import { createExportGate } from '../../src/extract/export-gate.js';
import { createFakeIo } from '../api/fake-io.js';

const quota = { rule: 'exportRowsPerMonth', allowed: 300n, used: 0n, monthly: true };
const FREE: Allowance = { ...NO_EXPORTS, rows: undefined, quota };
const openGate = (allowance: Partial<Allowance> = {}) => createExportGate({ ...FREE, ...allowance }, createFakeIo());
const told = (rows: bigint, remaining?: bigint) => ({ rows, overage: false, remaining });

describe('exports side by side', () => {
  test('do not pass together what each of them may alone', () => {
    const gate = openGate();
    const first = gate.hold(200n);
    expect(() => gate.require(101n)).toThrow(/leaves 100 export rows .* takes 101/);
    expect(() => gate.hold(101n)).toThrow(/it would be cut/);
    gate.hold(100n);
    first.release();
    expect(gate.left().quota).toMatchObject({ used: 100n });
  });

  test('start no block of overage that nobody agreed to', () => {
    const gate = openGate({ bills: true });
    gate.hold(300n);
    expect(() => gate.hold(1n)).toThrow(/up to 1 block of 10,000 would be billed, and no overage is agreed/);
  });

  test('keep to the caps of a run', () => {
    const gate = openGate({ quota: undefined, rows: { rule: '--max-rows', allowed: 50n, used: 0n, monthly: false } });
    gate.hold(30n);
    expect(() => gate.hold(21n)).toThrow(/--max-rows leaves 20 export rows of 50/);
  });

  test('count once, whether what the service has left is told with those under way or without', () => {
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

  test('and what others took meanwhile is off what is left', () => {
    const gate = openGate();
    gate.hold(100n).take(told(100n, 50n));
    expect(() => gate.require(51n)).toThrow(/leaves 50 export rows/);
  });
});
