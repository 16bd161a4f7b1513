import { describe, expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { type Allowance, findAllowance } from '../../src/plan/allowance.js';
import { type CopyFacts, chooseCopy } from '../../src/plan/choose-copy.js';

const RESETS_AT = '2026-12-01T00:00:00Z';

/** A Free plan with these monthly export rows and calls, some of which are used. */
function freePlan(rows: number, calls: number, used: { rows?: bigint; calls?: bigint } = {}): Allowance {
  const usage = { apiCalls: used.calls ?? 0n, exportRows: used.rows ?? 0n, resetsAt: RESETS_AT };
  const limits = { exportRowsPerMonth: rows, apiCallsPerMonth: calls, changeFeed: false };
  const budget = { calls: { percent: 100 }, exportRows: { percent: 100 }, overage: 0 };
  return findAllowance({ status: null, limits, usage }, budget);
}

const facts = (changed: Partial<CopyFacts>): CopyFacts => ({
  items: 20_000n,
  exportRows: 20_000n,
  allowance: freePlan(1_000, 1_000),
  callsMade: 0n,
  pagesLanded: 0n,
  ...changed,
});

describe('a copy of all items', () => {
  test('is exported if the remaining rows suffice', () => {
    const choice = { route: 'export', reason: 'an export is allowed', thisMonth: true };
    expect(chooseCopy(facts({ allowance: freePlan(20_000, 1_000) }))).toEqual(choice);
  });

  test('is read page by page if an export would be truncated and the calls suffice', () => {
    const reason =
      /needs 20000 rows, but only 1000 of .*, so it would be truncated; reading 40 pages of \/items gives the same data$/;
    expect(chooseCopy(facts({}))).toEqual({ route: 'pages', reason: expect.stringMatching(reason), thisMonth: true });
  });

  test('is read page by page if the service truncated the export unexpectedly', () => {
    const cut = new PricelakeError('quota', 'the service cut the export', { cut: true });
    expect(chooseCopy(facts({ allowance: freePlan(50_000, 1_000), cut }))).toMatchObject({
      route: 'pages',
      reason: 'the service cut the export; reading 40 pages of /items gives the same data',
    });
  });

  test.each([
    [90, 'pages'],
    [89, 'wait'],
  ])('reserves 50 calls for the rest of the run: with %i calls left, the choice is %s', (left, route) => {
    const allowed = freePlan(25_000, 1_000, { rows: 25_000n, calls: 1_000n - BigInt(left) });
    expect(chooseCopy(facts({ allowance: allowed })).route).toBe(route);
    const made = freePlan(25_000, 1_000, { rows: 25_000n, calls: 990n - BigInt(left) });
    expect(chooseCopy(facts({ allowance: made, callsMade: 10n })).route).toBe(route);
  });

  test('waits for the next month if its rows suffice then, and reports the date', () => {
    const choice = chooseCopy(facts({ allowance: freePlan(20_000, 1_000, { rows: 5n, calls: 980n }) }));
    expect(choice).toMatchObject({
      route: 'wait',
      refusal: {
        code: 'quota',
        message: expect.stringContaining(
          'reading 40 pages of /items would give the same data, but fewer than the 50 calls that a run reserves for its other steps would be left (now 20)',
        ),
        facts: { nextRunAt: new Date(RESETS_AT) },
      },
    });
  });

  test('is read page by page over several months if no month has enough rows or calls', () => {
    const items = 2_000_000n;
    expect(chooseCopy(facts({ items, exportRows: items }))).toMatchObject({
      route: 'pages',
      reason: expect.stringMatching(/reading 4,000 pages of \/items gives the same data over several months$/),
      thisMonth: false,
    });
  });

  test('that began page by page continues that way while the calls suffice, even if an export is now possible', () => {
    expect(chooseCopy(facts({ allowance: freePlan(20_000, 1_000), pagesLanded: 30n }))).toMatchObject({
      route: 'pages',
      reason: '10 pages left to read',
    });
    const few = freePlan(20_000, 1_000, { calls: 960n });
    expect(chooseCopy(facts({ allowance: few, pagesLanded: 30n })).route).toBe('export');
  });

  test('requests nothing more if every export has landed', () => {
    const none = { ...freePlan(0, 0), resetsAt: undefined };
    expect(chooseCopy(facts({ exportRows: 0n, allowance: none })).route).toBe('export');
  });

  test('without any item is exported', () => {
    expect(chooseCopy(facts({ items: 0n, exportRows: 0n })).route).toBe('export');
  });
});
