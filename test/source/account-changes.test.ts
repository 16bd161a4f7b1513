import { parse, stringify } from 'lossless-json';
import { afterEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { rebuildWithWings } from '../../src/wings/index.js';
import { proveItems } from '../../src/wings/sample/prove-sample.js';
import { failure } from '../failure.js';
import { expectExactCopy, listExports } from '../run/exact-copy.js';
import { openWorld, readItems, readLake, testIo, type World, type WorldOptions } from '../run/world.js';

let world: World;
afterEach(() => world.close());

/** Changes the service when the n-th request of a kind arrives. */
let happen: { path: string; nth: number; what: (request: Request) => unknown } | undefined;

/** Pages of the feed contain 20 changes. `happen` runs before its request is answered. */
async function openSmall(options: WorldOptions = {}): Promise<void> {
  let seen = 0;
  world = await openWorld({
    items: 80,
    sites: 2,
    ...options,
    intercept: async (request, next) => {
      if (happen !== undefined && request.url.includes(happen.path) && ++seen === happen.nth) {
        const { what } = happen;
        happen = undefined;
        seen = 0;
        const answer = await what(request);
        if (answer instanceof Response) return answer;
      }
      return next(new Request(request.url.replace('limit=1000', 'limit=20'), { headers: request.headers }));
    },
  });
  world.pipeline.proof = { sample: 0, products: false, facets: false };
}

async function syncError(): Promise<[string, number, Record<string, unknown>]> {
  const error = await failure(world.sync());
  return [error.code, exitCodeOf(error), error.facts];
}

/** Fetches an answer of the service, which the test then alters. */
async function ask({ url, headers }: Request): Promise<{ headers: Record<string, string>; text: string }> {
  const answer = await fetch(url, { headers });
  const kept = ['content-type', 'x-export-rows'].map((name) => [name, answer.headers.get(name) ?? '']);
  return { headers: Object.fromEntries(kept), text: await answer.text() };
}

describe('in the middle of a run', () => {
  test('the loss of the feed ends the run with exit code 4; later runs use what landed and poll until the feed is back', async () => {
    await openSmall();
    await world.sync();
    await world.sandbox.advance({ hours: 4, changes: 90 });
    const loseFeed = () => world.sandbox.changeAccount({ limits: { changeFeed: false } });
    happen = { path: '/changes?', nth: 3, what: loseFeed };
    expect(await syncError()).toMatchObject(['plan_refuses', 4, { limit: 'changeFeed' }]);
    await world.sandbox.advance({ hours: 4, changes: 60 });
    expect((await world.sync()).row).toMatchObject({ mode: 'poll', caught_up: true, tries: 2n });
    await expectExactCopy(world);
    world.sandbox.changeAccount({ limits: {} });
    await world.sandbox.advance({ hours: 4, changes: 30 });
    expect((await world.sync()).row).toMatchObject({ mode: 'feed', caught_up: true });
    await expectExactCopy(world);
    const feed = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*), count(DISTINCT change_id) FROM ${glob('history')} WHERE origin = 'feed'`,
    );
    const changes = String((await world.sandbox.dump()).changes.length);
    expect(feed).toEqual([[changes, changes]]);
  });
});

describe('a plan with lower limits', () => {
  test('after a trial is Free: later runs poll, and items that it no longer shows stay in the lake', async () => {
    await openSmall({ plan: 'trial' });
    await world.sync();
    const before = await readItems(world.lakePath);
    await world.sandbox.advance({ hours: 15 * 24, changes: 60 });
    expect((await world.sync()).row).toMatchObject({ mode: 'poll', reason: 'the plan has no change feed' });
    const after = await readItems(world.lakePath);
    expect([...before.keys()].filter((id) => !after.has(id))).toEqual([]);
    expect([...after].filter(([id, row]) => row.join() !== before.get(id)?.join()).length).toBeGreaterThan(0);
  });

  test('locks datasets, but a complete copy keeps their items unchanged and marks none as gone', async () => {
    await openSmall({ limits: { datasets: null } });
    await world.sync();
    const before = await readItems(world.lakePath);
    world.sandbox.changeAccount({ limits: { datasets: 1 } });
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.proof = { sample: 40, products: false, facets: true };
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'snapshot', gone: 0n, sample_mismatches: 0n, facets_different: 0n });
    expect(row.sampled).toBeGreaterThan(0n);
    const { sampled, mismatches } = await proveItems(world.pipeline, 40, testIo, new AbortController().signal);
    expect({ sampled, mismatches }).toEqual({ sampled: row.sampled, mismatches: 0n });
    expect(row.export_rows).toBeLessThan(BigInt(before.size));
    const after = await readItems(world.lakePath);
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    const locked = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*), count(gone_at) FROM ${glob('items')} WHERE len(datasets) > 0`,
    );
    expect(locked).toEqual([[String(before.size), '0']]);
  });
});

describe('datasets that the account no longer has', () => {
  const countGone = async () =>
    Number((await readLake(world.lakePath, (glob) => `SELECT count(gone_at) FROM ${glob('items')}`))[0]?.[0]);

  /** The plan locks no datasets, so a dataset that the service doesn't list doesn't belong to the account. */
  async function loseDatasets(renumber = 0): Promise<void> {
    await openSmall({ limits: { datasets: null } });
    await world.sync();
    const { intercept } = world;
    world.intercept = async (request, next) => {
      const { pathname } = new URL(request.url);
      if (!['/api/v1/plan', '/api/v1/datasets'].includes(pathname)) return intercept?.(request, next) ?? next(request);
      const answer = parse(await (await next(request)).text(), undefined, BigInt) as Record<string, unknown>[];
      const changed = Array.isArray(answer)
        ? answer.map((dataset) => ({ ...dataset, id: (dataset.id as bigint) + BigInt(renumber) }))
        : { ...(answer as object), lockedDatasets: 0 };
      return new Response(stringify(changed), { headers: { 'content-type': 'application/json' } });
    };
    world.sandbox.changeAccount({ limits: { datasets: 1 } });
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.proof = { sample: 80, products: false, facets: true };
  }

  test('have no items after a complete copy, or in a rebuilt lake, until the account has them again', async () => {
    await loseDatasets();
    const { row } = await world.sync();
    expect(row).toMatchObject({ sample_mismatches: 0n, facets_different: 0n });
    expect(row.gone).toBeGreaterThan(0n);
    expect(await countGone()).toBe(Number(row.gone));
    const before = await readItems(world.lakePath);
    await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
    expect(await readItems(world.lakePath)).toEqual(before);
    world.intercept = undefined;
    world.sandbox.changeAccount({ limits: { datasets: null } });
    world.pipeline.source.mode = 'auto';
    for (const hours of [1, 2]) {
      await world.sandbox.advance({ hours, changes: 10 });
      await world.sync();
    }
    await expectExactCopy(world);
    expect(await countGone()).toBe(0);
  });

  test('keep their items if the key can read none of the known datasets, because it may belong to another account', async () => {
    await loseDatasets(1000);
    expect((await world.sync()).row).toMatchObject({ mode: 'snapshot', gone: 0n });
    expect(await countGone()).toBe(0);
  });
});

describe('a cursor older than the history of the plan', () => {
  test("isn't continued: the run makes a complete copy, or polls what changed since if no copy is allowed", async () => {
    await openSmall({ limits: { historyDays: 7 } });
    await world.sync();
    for (const [days, mode] of [
      [8, 'snapshot'],
      [17, 'poll'],
    ] as const) {
      await world.sandbox.advance({ hours: 24 * (days - world.clock.days), changes: 50 });
      world.clock.days = days;
      if (mode === 'poll') {
        // Fewer calls than a copy page by page would leave for the rest of a run.
        Object.assign(world.pipeline.budget, { exportRows: { count: 0 }, calls: { count: 45 } });
      }
      const { row } = await world.sync();
      expect(row).toMatchObject({ mode, reason: expect.stringContaining('reaches back 7') });
      await expectExactCopy(world);
    }
    expect(listExports(world)).toHaveLength(2);
  });
});

describe('a cursor that the service refuses', () => {
  test('as a bad request leads to a complete copy, and no change is lost', async () => {
    await openSmall();
    await world.sync();
    await world.sandbox.advance({ hours: 2, changes: 50 });
    const body = { status: 400, error: 'Refused', message: 'after: the cursor is too old', docsUrl: '' };
    const refuse = () => Response.json(body, { status: 400 });
    // Refuses the earlier change from which the run reads the feed again, and then the cursor.
    const refuseBoth = () => {
      happen = { path: '/changes?', nth: 1, what: refuse };
      return refuse();
    };
    happen = { path: '/changes?', nth: 1, what: refuseBoth };
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'snapshot', reason: expect.stringContaining('rejects the feed cursor') });
    await expectExactCopy(world);
    const rows = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*), count(DISTINCT change_id) FROM ${glob('history')}`,
    );
    expect(rows[0]?.[0]).toBe(rows[0]?.[1]);
    expect((await world.sync()).published).toBe(false);
  });
});

describe("a run that paused for longer than the plan's history", () => {
  const standStill = async (days: number, nth: number) => {
    happen = { path: '/changes?', nth, what: () => world.sandbox.changeAccount({ revoked: ['live'] }) };
    await syncError();
    for (let step = 0; step < 2; step++) await world.sandbox.advance({ hours: 12 * days, changes: 60 });
    world.clock.days += days;
    world.sandbox.changeAccount({ revoked: [] });
  };

  test('replaces what the feed no longer returns by a complete copy, and keeps the rows that it paid for', async () => {
    await openSmall({ limits: { historyDays: 7 } });
    await standStill(10, 1);
    expect((await world.sync()).row).toMatchObject({ mode: 'snapshot', tries: 2n });
    expect(listExports(world)).toHaveLength(1);
    await expectExactCopy(world);
    await world.sandbox.advance({ hours: 1, changes: 90 });
    await standStill(10, 2);
    expect((await world.sync()).row).toMatchObject({ mode: 'snapshot', tries: 2n });
    await expectExactCopy(world);
  });

  test('and was held is published, but the next run makes a complete copy', async () => {
    await openSmall({ limits: { historyDays: 7 } });
    world.pipeline.checks = { currency_iso_4217: { severity: 'gate' } };
    happen = {
      path: '/export',
      nth: 1,
      what: async (request) => {
        const { headers, text } = await ask(request);
        return new Response(text.replace(/"currency":"\w+"/, '"currency":"euro"'), { headers });
      },
    };
    expect(await syncError()).toMatchObject(['gate_failed', 3, {}]);
    for (let step = 0; step < 2; step++) await world.sandbox.advance({ hours: 120, changes: 60 });
    world.clock.days += 10;
    await world.sync({ publishHeld: true });
    expect((await world.sync()).row).toMatchObject({
      mode: 'snapshot',
      reason: expect.stringContaining('10.0 days ago'),
    });
    await expectExactCopy(world);
  });
});

describe('a change whose item the key can no longer read', () => {
  test('is added to history without an item, and the run polls for the item', async () => {
    await openSmall({ history: 'none' });
    await world.sync();
    await world.sandbox.advance({ hours: 2, changes: 10 });
    happen = {
      path: '/changes?',
      nth: 1,
      what: async (request) => {
        const { headers, text } = await ask(request);
        const page = parse(text) as { changes: { item: unknown }[] };
        if (page.changes[0] !== undefined) page.changes[0].item = null;
        return new Response(stringify(page), { headers });
      },
    };
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'poll', rejected: 0n, caught_up: true, listing_unknown: 0n });
    const rows = await readLake(
      world.lakePath,
      (glob) =>
        `SELECT count(*) FILTER (item_id IS NULL), count(*) FROM ${glob('history')} WHERE run_id = '${row.run_id}'`,
    );
    // The item's difference has its own row, besides the change that doesn't name the item.
    expect(rows).toEqual([['1', '11']]);
  });
});
