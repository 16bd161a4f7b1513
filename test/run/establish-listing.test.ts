import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { estimateWithWings, syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { expectItems, expectLedger, expectProducts } from '../sim/compare.js';
import { events, record, relist } from '../sim/events.js';
import { PLAIN } from '../sim/habits.js';
import { readLakeRows } from '../sim/lake-rows.js';
import { populate } from '../sim/life.js';
import { SIM_KEY, startService } from '../sim/service.js';
import { type Item, SECOND, World } from '../sim/world.js';
import { GATES_ALONE } from './world.js';

/** A service without the feed, whose `changedSince` omits removals and relistings, and a copy of its items. */
async function openCopied({ moves = false, isNew = false } = {}) {
  const world = new World(22, { ...PLAIN, feed: false, fraction: 3, stateTimes: moves ? 'moved' : 'kept' });
  populate(world, 40, 3);
  if (isNew) for (const item of unlisted(world)) item.sight = 'gone';
  // The changes in the first copy are older than the range of a poll.
  world.now += 4n * 3_600n * SECOND;
  record(world, listed(world)[0] as Item, 'CHANGED', {}, 7);
  world.now += SECOND;
  let onRequest = (_path: string) => {};
  const service = await startService(world, 3, { onMoment: (path) => onRequest(path) });
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-listing-'));
  const values = pipelineSchema.parse({
    name: 'listing',
    source: { baseUrl: service.baseUrl, apiKey: 'key', history: 'none' },
    lake: { path: path.join(folder, 'lake') },
    landing: { keep: 0 },
    checks: GATES_ALONE,
    proof: { sample: 0, products: false, facets: false },
  });
  const pipeline = { ...values, file: 'listing.yaml', source: { ...values.source, apiKey: SIM_KEY } };
  const io: Io = { ...realIo, sleep: async () => {} };
  onTestFinished(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });
  await syncWithWings(pipeline, io);
  pipeline.budget.calls = { count: 1_000 };
  world.now += 4n * 3_600n * SECOND;
  return {
    world,
    pipeline,
    io,
    /** Called with the path of each request before it is answered. */
    watch: (look: (path: string) => void) => {
      onRequest = look;
    },
    /** Runs, and returns the ledger row and the requests. */
    run: async (signal?: AbortSignal) => {
      service.requests.length = 0;
      service.used.calls = 4; // the first call of a run, for the plan, is the fifth
      const { row } = await syncWithWings(pipeline, io, signal);
      return { row, requests: [...service.requests] };
    },
    requests: service.requests,
    readLake: () => readLakeRows(pipeline.lake.path),
    expectCopy: async () => {
      const lake = await readLakeRows(pipeline.lake.path);
      expectItems(world, lake, { cursor: null, settled: true, withoutLeft: false });
      expectProducts(lake);
      expectLedger(lake);
    },
  };
}

const listed = (world: World) => world.visibleItems().filter((item) => item.removedAt === null);
const unlisted = (world: World) => world.visibleItems().filter((item) => item.removedAt !== null);
const asked = (requests: string[], start: string) => requests.filter((request) => request.startsWith(start));

describe('a poll whose changedSince omits removals and relistings', () => {
  test("finds them, even swaps within a website: items, history and products equal the service's", async () => {
    const { world, run, expectCopy, readLake } = await openCopied();
    const removed = listed(world).slice(0, 5);
    const back = unlisted(world).slice(0, 3);
    for (const item of removed) events.remove(world, item);
    for (const item of back) relist(world, item);
    const { row, requests } = await run();
    expect(row).toMatchObject({
      mode: 'poll',
      caught_up: true,
      listing_unknown: 0n,
      reason: 'the plan has no change feed',
    });
    expect(asked(requests, '/facets')).toHaveLength(1);
    await expectCopy();
    const { history } = await readLake();
    const kinds = (items: Item[]) => history.filter(({ item_id: id }) => items.some((item) => String(item.id) === id));
    expect(kinds(removed).map(({ kind }) => kind)).toEqual(removed.map(() => 'REMOVED'));
    expect(kinds(back).map(({ kind }) => kind)).toEqual(back.map(() => 'RELISTED'));
    // This doesn't change the count of its website.
    const [returned] = back as [Item];
    events.remove(world, returned);
    relist(world, removed.find(({ siteId }) => siteId === returned.siteId) ?? (removed[0] as Item));
    expect((await run()).row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    await expectCopy();
  });

  test('finds an item that disappeared without a change, and marks it as gone', async () => {
    const { world, run, readLake } = await openCopied();
    const [lost] = listed(world) as [Item];
    lost.sight = 'hidden';
    expect((await run()).row).toMatchObject({ caught_up: true, listing_unknown: 0n, gone: 1n });
    const row = (await readLake()).items.find(({ item_id: id }) => id === String(lost.id));
    expect(row).toMatchObject({ is_listed: 'false', gone_at: expect.any(String) });
  });

  test("reports unknown listing states if no call is left for the counts, and isn't caught up", async () => {
    const { world, run, pipeline } = await openCopied();
    for (const item of listed(world).slice(-2)) events.remove(world, item);
    // Besides the plan: the low watermark, a page and the datasets. The service had counted five calls before.
    pipeline.budget.calls = { count: 5 + 3 };
    const { row, requests } = await run();
    expect(asked(requests, '/facets')).toHaveLength(0);
    expect(row).toMatchObject({ caught_up: false, caught_up_at: null });
    expect(row.listing_unknown).toBeGreaterThan(30n);
    expect(row.reason).toMatch(/it is unknown which of \d+ items are still listed: budget.calls allows/);
    pipeline.budget.calls = { count: 5 + 4 };
    const counted = (await run()).row;
    expect(counted).toMatchObject({ caught_up: false, caught_up_at: null });
    expect(counted.reason).toMatch(/item counts differ by 2 on Shop \d \(service \d+, lake \d+\).* the limit is 0/);
    const context = openContext();
    const status = await showStatus({ lake: pipeline.lake.path }, context);
    expect(context.output.text).toMatch(
      /^not caught up: run 3 couldn't tell whether up to \d+ items are still listed .*item counts/m,
    );
    expect(JSON.parse(toJsonText(status))).toMatchObject({
      listing: { run: 3, unknown: Number(counted.listing_unknown) },
    });
    pipeline.budget.calls = { count: 1_000 };
    expect((await run()).row).toMatchObject({ caught_up: true, listing_unknown: 0n });
  });

  test("isn't mistaken for a poll that returns them if a value changed in the scrape that ended a listing", async () => {
    const { world, run, expectCopy } = await openCopied({ isNew: true });
    const [sold, other] = listed(world).filter(({ siteId }, _n, [first]) => siteId === first?.siteId) as [Item, Item];
    events.changePrice(world, sold);
    events.remove(world, sold);
    // The next poll begins after both changes.
    world.now += 4n * 3_600n * SECOND;
    events.changePrice(world, listed(world).at(-1) as Item);
    expect((await run()).row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    // Neither changes lastChangedAt or the counts.
    world.now += 4n * 3_600n * SECOND;
    events.remove(world, other);
    sold.removedAt = null;
    record(world, sold, 'RELISTED', {}, undefined);
    expect((await run()).row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    await expectCopy();
  });

  test('continues with the landed pages after it was stopped', async () => {
    const { world, run, watch, requests, expectCopy } = await openCopied();
    for (const item of listed(world).slice(-3)) events.remove(world, item);
    for (const item of unlisted(world).slice(0, 3)) relist(world, item);
    const stop = new AbortController();
    let singles = 0;
    watch((path) => {
      if (/^\/items\/\d/.test(path) && ++singles === 2) stop.abort(new Error('killed'));
    });
    await expect(run(stop.signal)).rejects.toThrow();
    const before = requests.filter((request) => /^\/(facets|items\?)/.test(request));
    watch(() => {});
    const { row, requests: after } = await run();
    expect(after.filter((request) => before.includes(request))).toEqual([]);
    expect(row).toMatchObject({ tries: 2n, caught_up: true, listing_unknown: 0n });
    await expectCopy();
  });

  test("leaves out rows that a killed process wrote but didn't journal, even if the next attempt requests nothing", async () => {
    const { world, pipeline, io, run, expectCopy } = await openCopied();
    for (const item of listed(world).slice(-3)) events.remove(world, item);
    for (const item of unlisted(world).slice(0, 3)) relist(world, item);
    io.log = (_level, event) => {
      if (event === 'audited') throw new Error('killed');
    };
    await expect(run()).rejects.toThrow('killed');
    io.log = () => {};
    const landing = path.join(pipeline.lake.path, '_pricelake', 'landing');
    const [last = ''] = (await readdir(landing)).sort().reverse();
    const files = (await readdir(path.join(landing, last))).filter((name) => /^(poll|listing)-/.test(name));
    for (const name of files) await appendFile(path.join(landing, last, name), '{"id":1}\n{"id":');
    expect(files).toContain('listing-00001.ndjson');
    const { row, requests } = await run();
    expect([requests, row.tries]).toEqual([[], 2n]);
    await expectCopy();
  });

  test('invents no removal if the counts lag: it reads twice, reports the difference and stops', async () => {
    const { world, run, watch, expectCopy } = await openCopied();
    const shown = world.visibleItems.bind(world);
    const [late] = listed(world) as [Item];
    watch((path) => {
      world.visibleItems = path === '/facets' ? () => shown().filter((item) => item !== late) : shown;
    });
    const { row, requests } = await run();
    watch(() => {});
    world.visibleItems = shown;
    expect(row).toMatchObject({ caught_up: false, listing_unknown: 1n, gone: 0n, differences: 0n });
    expect(row.reason).toContain('item counts differ by 1 on');
    expect(row.reason).toContain('although all pages were read');
    expect(asked(requests, '/facets')).toHaveLength(2);
    expect(requests.length).toBeLessThan(15);
    await expectCopy();
  });
});

describe('a poll whose changedSince returns removals and relistings', () => {
  test('is caught up with one call if the counts agree, or else with the newest changes', async () => {
    const { world, run, watch, expectCopy } = await openCopied({ moves: true });
    events.remove(world, listed(world)[0] as Item);
    const quiet = await run();
    expect(quiet.row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    expect(asked(quiet.requests, '/facets')).toHaveLength(1);
    expect(asked(quiet.requests, '/items')).toHaveLength(2);
    let isMoving = true;
    watch((path) => {
      if (path !== '/facets' || !isMoving) return;
      isMoving = false;
      world.tick(2);
      events.remove(world, listed(world)[0] as Item);
    });
    const busy = await run();
    expect(busy.row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    expect(asked(busy.requests, '/facets')).toHaveLength(1);
    await expectCopy();
    expect(asked(busy.requests, '/items/')).toEqual([]);
  });

  test('is only relied on after a removal has confirmed it', async () => {
    const { world, run } = await openCopied({ moves: true, isNew: true });
    events.changePrice(world, listed(world)[0] as Item);
    const { row, requests } = await run();
    expect(row).toMatchObject({ caught_up: true, listing_unknown: 0n });
    expect(asked(requests, '/items?status=active')).toHaveLength(1);
  });
});

test('plan includes the calls for the counts, and for all pages if the counts may hide something', async () => {
  const { world, pipeline, io, run } = await openCopied();
  events.remove(world, listed(world)[0] as Item);
  const said = await estimateWithWings(pipeline, io);
  expect(said.steps.find(({ step }) => step === 'listing')).toMatchObject({ calls: 2, exact: false });
  expect((await run()).row.calls).toBe(BigInt(said.calls));
});
