import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Allowance,
  type Budget,
  countBesideRun,
  countCallsLeft,
  countLeft,
  countRowsLeft,
  findAllowance,
  NO_EXPORTS,
  refuseCall,
} from '../../src/plan/allowance.js';
import { countOverage, refuseExport, takeExport } from '../../src/plan/export-allowance.js';

const RESETS_AT = '2026-12-01T00:00:00Z';
const CAREFUL: Budget = { calls: { percent: 90 }, exportRows: { percent: 90 }, overage: 0 };

function paid(apiCalls: bigint, exportRows: bigint, overrides: Record<string, unknown> = {}) {
  return {
    status: 'ACTIVE' as const,
    limits: { apiCallsPerMonth: 1_000, exportRowsPerMonth: 50_000, changeFeed: true },
    usage: { apiCalls, exportRows, resetsAt: RESETS_AT },
    ...overrides,
  };
}

const callsLeft = ({ calls }: Allowance) => (calls === undefined ? undefined : countLeft(calls));
const rowsLeft = ({ rows }: Allowance) => (rows === undefined ? undefined : countLeft(rows));

describe('the remaining budget', () => {
  test("is the plan's share minus what was used this month", () => {
    const left = findAllowance(paid(300n, 0n), CAREFUL);
    expect(callsLeft(left)).toBe(600n);
    expect(left.calls).toEqual({ rule: 'budget.calls', allowed: 900n, used: 300n, monthly: true });
    expect(left.resetsAt).toEqual(new Date(RESETS_AT));
  });

  test('never exceeds what the plan has left, even if the budget is larger', () => {
    const { calls } = findAllowance(paid(300n, 0n), { ...CAREFUL, calls: { count: 5_000 } });
    expect(calls).toMatchObject({ rule: 'apiCallsPerMonth', allowed: 1_000n });
  });

  test('is zero once any client has exceeded it', () => {
    expect(callsLeft(findAllowance(paid(950n, 0n), CAREFUL))).toBe(0n);
  });

  test.each([
    ['a limit that is null', paid(300n, 0n, { limits: { apiCallsPerMonth: null } })],
    ['a limit that is missing', paid(300n, 0n, { limits: {} })],
    ["an operator's token, whose calls aren't counted", paid(0n, 0n, { usage: null })],
    ['a plan whose usage the service omits', paid(0n, 0n, { usage: undefined })],
  ])('is unlimited if the budget is a share of %s', (_, plan) => {
    expect(findAllowance(plan, CAREFUL)).toMatchObject({ calls: undefined, rows: undefined, quota: undefined });
  });

  test("is a budgeted number minus the month's usage, or the number per run if the service counts no usage", () => {
    const budget = { ...CAREFUL, calls: { count: 100 } };
    expect(callsLeft(findAllowance(paid(30n, 0n, { limits: {} }), budget))).toBe(70n);
    expect(callsLeft(findAllowance(paid(0n, 0n, { usage: null }), budget))).toBe(100n);
  });

  test('when used up, gives an error with the rule and the time at which to continue', () => {
    const error = refuseCall(findAllowance(paid(900n, 0n), CAREFUL), 7);
    expect(error.code).toBe('budget');
    expect(error.message).toContain('budget.calls allows 900 calls a month');
    expect(error.facts).toMatchObject({ allowed: 900, used: 900, made: 7, nextRunAt: new Date(RESETS_AT) });
    expect(error.facts.hint).toMatch(/^Raise budget.calls, or run the same command again next month. It will continue/);
    const quota = refuseCall(findAllowance(paid(0n, 0n), { ...CAREFUL, calls: { percent: 100 } }), 7);
    expect(quota.code).toBe('quota');
    expect(quota.facts.hint).toMatch(/^Choose a larger plan, or run/);
  });

  test('when used up in a run without a monthly count, gives an error without a date', () => {
    const error = refuseCall(findAllowance(paid(0n, 0n, { usage: null }), { ...CAREFUL, calls: { count: 5 } }), 5);
    expect(error.message).toContain('budget.calls allows 5 calls a run, and none are left (this run made 5)');
    expect(error.facts.hint).toBe('Raise budget.calls, or run the same command again. It will continue from here.');
    expect(error.facts).not.toHaveProperty('nextRunAt');
  });

  test('is reduced by the calls made, keeps 50 calls for the rest of the run, and is unlimited without a rule', () => {
    const left = findAllowance(paid(300n, 0n), CAREFUL);
    expect([0n, 599n, 601n].map((made) => countCallsLeft(left, made))).toEqual([600n, 1n, 0n]);
    expect(countCallsLeft({ calls: undefined }, 7n)).toBeNull();
    // 50 calls are reserved for the rest of the run.
    expect([null, 500n, 60n, 20n].map((calls) => countBesideRun(30, calls))).toEqual([30, 30, 10, 0]);
  });
});

describe('an export', () => {
  test('may contain as many rows as the tighter of budget and quota allows, or any number without both', () => {
    const bound = (allowed: bigint, used: bigint) => ({ rule: 'x', allowed, used, monthly: true });
    expect(countRowsLeft({ rows: bound(9n, 2n), quota: bound(8n, 4n) })).toBe(4n);
    expect(countRowsLeft({ rows: bound(9n, 2n), quota: undefined })).toBe(7n);
    expect(countRowsLeft({ rows: undefined, quota: undefined })).toBeNull();
  });

  test('may contain the share of the plan, and not one row more', () => {
    const left = findAllowance(paid(0n, 5_000n), CAREFUL);
    expect(rowsLeft(left)).toBe(40_000n);
    expect(refuseExport(left, 40_000n)).toBeUndefined();
    const message = 'the export needs 40001 rows, but only 40000 of the 45000 allowed by budget.exportRows are left';
    const facts = { rule: 'budget.exportRows', allowed: 45_000, used: 5_000, wanted: 40_001 };
    const nextRunAt = new Date(RESETS_AT);
    expect(refuseExport(left, 40_001n)).toMatchObject({ code: 'budget', message, facts: { ...facts, nextRunAt } });
  });

  test('beyond the quota is refused unless overage is allowed', () => {
    const whole: Budget = { ...CAREFUL, exportRows: { percent: 100 } };
    const count: Budget = { ...CAREFUL, exportRows: { count: 1_000_000 } };
    expect(refuseExport(findAllowance(paid(0n, 0n), whole), 50_001n)?.code).toBe('budget');
    const error = refuseExport(findAllowance(paid(0n, 0n), count), 60_001n);
    expect(error?.message).toContain('up to 2 blocks of 10,000 would be billed, but no overage is allowed');
    expect(error?.facts).toMatchObject({ rule: 'exportRowsPerMonth', overageBlocks: 2, wanted: 60_001 });
  });

  test('may start as many billed blocks as are allowed for the month, including earlier ones', () => {
    const budget: Budget = { ...CAREFUL, overage: 3 };
    expect(refuseExport(findAllowance(paid(0n, 0n), budget), 80_000n)).toBeUndefined();
    expect(refuseExport(findAllowance(paid(0n, 0n), budget), 80_001n)?.code).toBe('budget');
    expect(refuseExport(findAllowance(paid(0n, 60_001n), budget), 10_000n)).toBeUndefined();
    expect(refuseExport(findAllowance(paid(0n, 60_001n), budget), 10_001n)?.code).toBe('budget');
    expect(refuseExport(findAllowance(paid(0n, 0n), { ...budget, overage: null }), 9_000_000n)).toBeUndefined();
  });

  test('is limited by a share only if no overage is allowed, but always by a number', () => {
    expect(rowsLeft(findAllowance(paid(0n, 0n), { ...CAREFUL, overage: 1 }))).toBeUndefined();
    expect(rowsLeft(findAllowance(paid(0n, 0n), CAREFUL, { maxOverage: 1 }))).toBeUndefined();
    expect(rowsLeft(findAllowance(paid(0n, 0n), { ...CAREFUL, exportRows: { count: 7 }, overage: null }))).toBe(7n);
  });

  test('is allowed or limited for one run by options of the command line, which override the file', () => {
    expect(refuseExport(findAllowance(paid(0n, 90_000n), CAREFUL, { maxOverage: 1 }), 10_000n)).toBeUndefined();
    expect(
      refuseExport(findAllowance(paid(0n, 0n), { ...CAREFUL, overage: 9 }, { maxOverage: 0 }), 50_001n),
    ).toBeDefined();
    expect(refuseExport(findAllowance(paid(0n, 0n), CAREFUL, { maxRows: 400 }), 401n)).toMatchObject({
      code: 'budget',
      facts: { rule: '--max-rows', hint: 'Raise --max-rows.' },
    });
  });

  test.each([
    ['in a trial', { status: 'TRIALING' }],
    ['without a subscription', { status: null }],
    ['when the service omits the status', { status: undefined }],
    ['with an undocumented status', { status: 'PAUSED' }],
    ['on Free after a trial', { status: 'CANCELED', limits: { exportRowsPerMonth: 50_000, changeFeed: false } }],
  ])('that would be truncated %s is refused, even if overage is allowed', (_, overrides) => {
    const left = findAllowance(paid(0n, 0n, overrides as never), { ...CAREFUL, overage: null });
    expect(refuseExport(left, 50_000n)).toBeUndefined();
    expect(refuseExport(left, 50_001n)).toMatchObject({ code: 'quota', facts: { nextRunAt: new Date(RESETS_AT) } });
    expect(countOverage(left, 50_001n)).toBe(0n);
  });
});

test("a run whose rows have all landed exports no more rows, and doesn't wait for the next month", () => {
  const error = refuseExport(NO_EXPORTS, 1n);
  expect(error?.message).toBe('the export needs 1 rows, but only 0 of the 0 allowed by a run that has landed are left');
  expect(error?.facts).not.toHaveProperty('nextRunAt');
});

describe('after an export', () => {
  let left: Allowance;
  beforeEach(() => {
    left = findAllowance(paid(0n, 0n), { ...CAREFUL, overage: 3 }, { maxRows: 100_000 });
  });

  test('its rows are subtracted from every limit', () => {
    const after = takeExport(left, { rows: 45_000n, overage: false });
    expect(rowsLeft(after)).toBe(55_000n);
    expect(countOverage(after, 5_001n)).toBe(1n);
  });

  test('the remaining rows that the service reports apply if they are fewer', () => {
    expect(countOverage(takeExport(left, { rows: 10n, overage: false, remaining: 20n }), 21n)).toBe(1n);
    expect(countOverage(takeExport(left, { rows: 10n, overage: false, remaining: 50_000n }), 49_991n)).toBe(1n);
  });

  test('each export starts its own block of overage', () => {
    let after = left;
    for (const rows of [50_001n, 1n]) {
      expect(refuseExport(after, rows)).toBeUndefined();
      after = takeExport(after, { rows, overage: rows === 1n });
    }
    expect(after.blocks).toBe(1n);
    expect(refuseExport(after, 10_001n)?.code).toBe('budget');
  });

  test('overage without permission ends all exports, even if no quota was known', () => {
    for (const limits of [{ exportRowsPerMonth: 50_000 }, {}]) {
      const careful = findAllowance(paid(0n, 0n, { limits }), CAREFUL);
      expect(refuseExport(careful, 1n)).toBeUndefined();
      expect(refuseExport(takeExport(careful, { rows: 100n, overage: true }), 1n)?.code).toBe('budget');
    }
  });
});
