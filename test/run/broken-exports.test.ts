import { afterEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import type { PricelakeError } from '../../src/io/errors.js';
import { estimateWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { countUsed, expectExactCopy } from './exact-copy.js';
import { openWorld, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

const HOUR_MS = 3600 * 1000;
const exports = () => world.requests.filter((request) => request.startsWith('/export')).length;

/** 60 items, and exports that are interrupted from now on. */
async function openBroken(): Promise<void> {
  world = await openWorld({ items: 60, sites: 2, history: 'none' });
  world.sandbox.armFaults(['export:drop=0.5']);
}

async function syncError(): Promise<PricelakeError> {
  world.requests.length = 0;
  return failure(world.sync());
}

async function sync() {
  world.requests.length = 0;
  return world.sync();
}

const estimate = () => {
  const now = () => new Date(Date.now() + world.clock.days * 24 * HOUR_MS);
  return estimateWithWings(world.pipeline, { ...testIo, now });
};

/** Leaves too few calls for pages. */
async function leaveCalls(left: number): Promise<void> {
  world.pipeline.budget.calls = { count: (await countUsed(world)) + left };
}

describe('an export that is always interrupted', () => {
  test('is requested three times by one run and once by the next; then pages replace it', async () => {
    await openBroken();
    const first = await syncError();
    expect([exports(), exitCodeOf(first), first.facts.nextRunAt]).toEqual([3, 75, expect.any(Date)]);
    const second = await syncError();
    expect([exports(), exitCodeOf(second)]).toEqual([1, 75]);
    expect((second.facts.nextRunAt as Date).getTime() - Date.now()).toBeGreaterThan(HOUR_MS - 60_000);
    const ahead = await estimate();
    expect(ahead.steps.map(({ step }) => step)).toContain('pages');
    expect(ahead.steps.find(({ step }) => step === 'pages')?.basis).toContain('export all was interrupted in 2 runs');
    const { row } = await sync();
    expect(exports()).toBe(0);
    expect(row.export_rows_lost).toBe(240n);
    await expectExactCopy(world);
  });

  test("is tried again after a delay, and isn't remembered as interrupted once it succeeds", async () => {
    await openBroken();
    await syncError();
    await syncError();
    await sync();
    world.pipeline.source.mode = 'snapshot';
    await sync();
    expect(exports()).toBe(0);
    world.clock.days = 1.1 / 24;
    expect((await estimate()).steps.find(({ step }) => step === 'export')?.basis).toContain(
      'was interrupted in 2 runs',
    );
    await syncError();
    expect(exports()).toBe(1);
    world.clock.days = 2 / 24;
    await sync();
    expect(exports()).toBe(0); // two hours more
    world.clock.days = 3.5 / 24;
    world.sandbox.armFaults([]);
    await sync();
    expect(exports()).toBe(1);
    world.sandbox.armFaults(['export:drop=0.5']);
    await syncError();
    expect(exports()).toBe(3);
  });

  test("ends the run until then if the calls don't suffice for pages, and plan reports this without an export row", async () => {
    await openBroken();
    await leaveCalls(40);
    await syncError();
    await syncError();
    const error = await syncError();
    expect([exports(), error.code, exitCodeOf(error)]).toEqual([0, 'snapshot_incomplete', 75]);
    expect(error.message).toMatch(
      /^export all was interrupted in 2 runs, .* reading 1 page of \/items would give the same data/,
    );
    const { nextRunAt } = error.facts;
    expect((nextRunAt as Date).getTime() - Date.now()).toBeGreaterThan(HOUR_MS - 60_000);
    const { refusal } = await estimate();
    expect(refusal).toMatchObject({ code: 'snapshot_incomplete', facts: { nextRunAt } });
    expect(exports()).toBe(0);
    world.sandbox.armFaults([]);
    world.clock.days = 1.1 / 24;
    await sync();
    await expectExactCopy(world);
  });

  test("doesn't stop the feed of a lake with a due comparison", async () => {
    world = await openWorld({ items: 60, sites: 2, history: 'none' });
    await sync();
    world.sandbox.armFaults(['export:drop=0.5']);
    world.pipeline.reconcile = 1;
    await leaveCalls(45);
    await syncError();
    await syncError();
    await world.sandbox.advance({ hours: 1, changes: 5 });
    const { row } = await sync();
    expect(exports()).toBe(0);
    expect(row.mode).toBe('feed');
    expect(row.reason).toMatch(/a complete comparison is due, but export all was interrupted in 2 runs/);
    expect(row.export_rows_lost).toBe(240n);
    await expectExactCopy(world);
  });
});
