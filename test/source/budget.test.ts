import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import type { SyncOptions } from '../../src/run/sync.js';
import { failure, faultOf } from '../failure.js';
import { expectExactCopy, listExports } from '../run/exact-copy.js';
import { openWorld, readLake, type World, type WorldOptions } from '../run/world.js';

let world: World;
afterEach(() => world.close());

/** 60 items and no proof, so that a run makes only necessary calls. */
async function openSmall(options: WorldOptions = {}): Promise<void> {
  world = await openWorld({ items: 60, sites: 2, pastDays: 5, ...options });
  world.pipeline.proof = { sample: 0, products: false, facets: false };
}

const syncError = (options?: SyncOptions) => failure(world.sync(options));

/** Leaves this many calls, which are fewer than a copy page by page would leave for the rest of a run. */
function leaveCalls(count: number): void {
  world.pipeline.budget.calls = { count: world.requests.length + count };
}

const landings = () => readdir(path.join(world.lakePath, '_pricelake', 'landing'));
const RESETS_AT = new Date('2026-12-01T00:00:00Z');

describe('a budget of calls', () => {
  // I0 of SPEC.md
  test('stops a run at any point, and the next runs continue from there and request nothing twice', async () => {
    await openSmall();
    const { budget } = world.pipeline;
    let tries = 0;
    for (let calls = 4; ; calls += 4, tries++) {
      budget.calls = { count: calls };
      const error = await faultOf(world.sync());
      if (error === undefined) break;
      expect([error.code, exitCodeOf(error), error.facts.nextRunAt]).toEqual(['budget', 5, RESETS_AT]);
      expect(error.message).toContain(`budget.calls allows ${calls} calls a month`);
      expect(world.requests).toHaveLength(calls);
    }
    expect(tries).toBeGreaterThanOrEqual(1);
    const paid = world.requests.filter((request) => request !== '/plan');
    expect(new Set(paid).size).toBe(paid.length);
    await expectExactCopy(world);
  });

  test("of all calls in the plan is reported as the plan's quota, and stops a run before the service refuses", async () => {
    await openSmall({ limits: { apiCallsPerMonth: 4 } });
    world.pipeline.budget.calls = { percent: 100 };
    const error = await syncError();
    expect([error.code, exitCodeOf(error), error.facts.rule]).toEqual(['quota', 5, 'apiCallsPerMonth']);
    expect(world.requests).toHaveLength(4);
  });
});

describe('an export beyond', () => {
  test.each<[string, WorldOptions, string]>([
    ['the budget', { limits: { exportRowsPerMonth: 66 } }, 'budget'],
    ['the quota that would be billed', { limits: { exportRowsPerMonth: 45 } }, 'budget'],
    [
      'the quota of a trial, which would truncate it',
      { plan: 'trial', limits: { exportRowsPerMonth: 59, datasets: null } },
      'quota',
    ],
  ])('%s is never requested, and the next run decides again', async (_, options, code) => {
    await openSmall(options);
    world.pipeline.budget.exportRows = code === 'quota' ? { percent: 100 } : { percent: 90 };
    leaveCalls(40);
    const error = await syncError();
    expect([error.code, exitCodeOf(error), error.facts.nextRunAt]).toEqual([code, 5, RESETS_AT]);
    expect(error.facts).toMatchObject({ wanted: 60 });
    expect(listExports(world)).toEqual([]);
    expect(await landings()).toEqual([]);
    if (code === 'quota') return;
    world.sandbox.changeAccount({ limits: { ...options.limits, exportRowsPerMonth: 5_000 } });
    world.pipeline.budget.calls = { percent: 90 };
    expect((await world.sync()).row).toMatchObject({ export_rows: 60n, overage: false, overage_blocks: 0n });
    await expectExactCopy(world);
  });

  test('--max-rows is refused without waiting for the next month', async () => {
    await openSmall();
    leaveCalls(40);
    const error = await syncError({ caps: { maxRows: 59 } });
    expect(error).toMatchObject({ code: 'budget', facts: { rule: '--max-rows' } });
    expect(error.facts.nextRunAt).toBeUndefined();
    world.pipeline.budget.calls = { percent: 90 };
    await world.sync({ caps: { maxRows: 60 } });
    await expectExactCopy(world);
  });

  test('the quota is billed if overage is allowed, and the ledger records the billed blocks', async () => {
    await openSmall({ limits: { exportRowsPerMonth: 45 }, checks: 'all' });
    const { row, checks } = await world.sync({ caps: { maxOverage: 1 } });
    expect(row).toMatchObject({ overage: true, overage_blocks: 1n, export_rows: 60n, usage_export_rows: 60n });
    expect(checks.find(({ name }) => name === 'ledger_matches_plan')).toMatchObject({ violations: 0n });
    // The month's first block is already billed, so the file's limit applies again.
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.budget.exportRows = { percent: 100 };
    leaveCalls(40);
    expect(await syncError()).toMatchObject({ code: 'budget', facts: { overageBlocks: 1 } });
    expect(listExports(world)).toHaveLength(1);
  });

  test('a quota that the service hid is kept if it is billed, and a due comparison then waits', async () => {
    let hidden = false;
    await openSmall({
      limits: { exportRowsPerMonth: 45 },
      intercept: async (request, next) => {
        const answer = await next(request);
        if (hidden || !request.url.endsWith('/plan')) return answer;
        const plan = JSON.parse(await answer.text());
        return Response.json({ ...plan, limits: { ...plan.limits, exportRowsPerMonth: null } });
      },
    });
    const { row } = await world.sync();
    expect(row).toMatchObject({ overage: true, overage_blocks: 1n, export_rows: 60n });
    await expectExactCopy(world);
    hidden = true;
    world.pipeline.reconcile = 1;
    leaveCalls(40);
    expect((await world.sync()).row).toMatchObject({
      mode: 'feed',
      reason: expect.stringContaining('a complete comparison is due, but'),
    });
    expect(listExports(world)).toHaveLength(1);
  });
});

describe('the ledger', () => {
  const readUsage = () =>
    readLake(
      world.lakePath,
      (glob) => `SELECT calls, usage_calls, export_rows, usage_export_rows FROM ${glob('runs')} ORDER BY run_number`,
    );

  test("of a run with an export has the service's counts, including the call that reads them", async () => {
    await openSmall();
    const { row } = await world.sync();
    expect(row.usage_calls).toBe(BigInt(world.requests.length));
    expect(await readUsage()).toEqual([[String(row.calls), String(row.calls), '60', '60']]);
    expect(world.requests.filter((request) => request === '/plan')).toHaveLength(2);

    // A run that finds no change, or a small one, makes no extra call for this.
    world.requests.length = 0;
    expect((await world.sync()).row).toMatchObject({ calls: 2n, usage_calls: null });
    expect(world.requests).toEqual(['/plan', expect.stringMatching(/^\/changes\?after=\d+&limit=1000$/)]);
    await world.sandbox.advance({ hours: 1, changes: 10 });
    expect((await world.sync()).row).toMatchObject({ usage_calls: null, usage_export_rows: null });
    expect(world.requests.filter((request) => request === '/plan')).toHaveLength(2);
  });

  test('differs if another client used the key in the meantime, and a check warns about the difference', async () => {
    await openSmall({
      checks: 'all',
      intercept: async (request, next) => {
        if (request.url.includes('/export')) for (let call = 0; call < 20; call++) await next(other('/plan', request));
        return next(request);
      },
    });
    const { row, checks } = await world.sync();
    expect(row.usage_calls).toBe(row.calls + 20n);
    expect(checks.find(({ name }) => name === 'ledger_matches_plan')).toMatchObject({
      severity: 'warn',
      violations: 1n,
    });
  });

  test('has no service counts across the end of a month', async () => {
    await openSmall({
      startAt: new Date('2026-11-30T23:30:00Z'),
      intercept: async (request, next) => {
        if (request.url.includes('/datasets')) await world.sandbox.advance({ hours: 1, changes: 0 });
        return next(request);
      },
    });
    expect((await world.sync()).row).toMatchObject({ usage_calls: null, usage_export_rows: null });
  });

  test("has no service counts for an operator's token, whose calls aren't counted", async () => {
    await openSmall({ limits: { exportRowsPerMonth: 5 } });
    world.pipeline.source.apiKey = world.sandbox.keys.operator;
    expect((await world.sync()).row).toMatchObject({ export_rows: 60n, overage: false, usage_calls: null });
    expect(world.requests.filter((request) => request === '/plan')).toHaveLength(1);
  });
});

function other(path: string, { url, headers }: Request): Request {
  return new Request(new URL(`/api/v1${path}`, url), { headers });
}
