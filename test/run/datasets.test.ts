import path from 'node:path';
import { parse } from 'lossless-json';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { listSoundRuns } from '../../src/journal/kept-runs.js';
import { peekUnfinishedRun } from '../../src/journal/landings.js';
import { readEntries } from '../../src/journal/read-entries.js';
import { RUN_FOLD } from '../../src/journal/run-state.js';
import { askService } from '../../src/run/open/service-state.js';
import type { RunReport } from '../../src/run/sync.js';
import type { DatasetSelection } from '../../src/tables/table.js';
import { estimateWithWings, rebuildWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { countUsed } from './exact-copy.js';
import { landEvent, moveOn, openWorld, readItems, readLake, readTruth, refuse, testIo } from './world.js';

/** Two of the account's datasets with common shops, and the names that items give them. */
const [ELECTRONICS, CENTRAL] = [11n, 26n];
const NAMES = new Map([
  [ELECTRONICS, 'Consumer electronics'],
  [CENTRAL, 'Central Europe'],
]);

/** Changes the service when the n-th matching request arrives. */
let happen: { matches: (url: URL) => boolean; nth: number; what: () => unknown } | undefined;

let pageLimit: number;

const world = await openWorld({
  items: 110,
  sites: 6,
  intercept: async (request, next) => {
    const url = new URL(request.url);
    if (happen?.matches(url) && --happen.nth === 0) {
      const { what } = happen;
      happen = undefined;
      const answer = await what();
      if (answer instanceof Response) return answer;
    }
    return next(new Request(request.url.replace('limit=1000', `limit=${pageLimit}`), { headers: request.headers }));
  },
});
afterAll(() => world.close());
beforeEach(() => {
  happen = undefined;
  pageLimit = 1000;
  world.sandbox.changeAccount({ plan: 'pro', limits: { ratePerSecond: null } });
  world.renew();
});

function choose(datasets: DatasetSelection): void {
  world.pipeline.source.datasets = datasets;
}

const asked = (endpoint: string) => world.requests.filter((request) => request.startsWith(`${endpoint}?`));
const datasetsOf = (endpoint: string) =>
  asked(endpoint).map((request) => new URLSearchParams(request.slice(endpoint.length)).get('dataset') ?? 'all');
/** The datasets of complete exports, without exports of changed items. */
const copies = () => {
  const whole = asked('/export').map((request) => new URLSearchParams(request.slice('/export'.length)));
  return whole.filter((query) => !query.has('changedSince')).map((query) => query.get('dataset'));
};
const ofDataset = (endpoint: string, id: bigint) => (url: URL) =>
  url.pathname.endsWith(endpoint) && url.searchParams.get('dataset') === String(id);

/** The items of these datasets, as the service has them. */
async function readScope(datasets: readonly bigint[]): Promise<Map<string, string[]>> {
  const names = datasets.map((id) => NAMES.get(id) as string);
  const truth = await readTruth(world.sandbox);
  return new Map(
    [...truth].filter(([, row]) => row.some((text) => text.split('|').some((name) => names.includes(name)))),
  );
}

/** The lake has exactly the items of these datasets, and each of their changes once. */
async function expectExactCopy(datasets: readonly bigint[], withHistory = true): Promise<void> {
  const truth = await readScope(datasets);
  expect(truth.size).toBeGreaterThan(10);
  expect(await readItems(world.lakePath)).toEqual(truth);
  if (!withHistory) return;
  const { changes } = await world.sandbox.dump();
  const rows = changes.map(
    (line) => parse(line, undefined, { parseNumber: String }) as { id: string; item: { id: string } },
  );
  const wanted = rows.filter(({ item }) => truth.has(item.id)).map(({ id }) => id);
  const ids = await readLake(world.lakePath, (glob) => `SELECT change_id FROM ${glob('history')} ORDER BY 1`);
  expect(ids.flat()).toEqual(wanted);
}

const goOn = (changes: number) => moveOn(world, { hours: 2, changes });

async function expectNoOtherSites(): Promise<void> {
  const sites = await readLake(
    world.lakePath,
    (glob) => `SELECT site_id FROM ${glob('sites')} WHERE site_id NOT IN (SELECT site_id FROM ${glob('items')})`,
  );
  expect(sites).toEqual([]);
}

function expectEquation({ received, written, rejected, deduplicated }: RunReport['row']): void {
  expect(received).toBe(written + rejected + deduplicated);
}

const lockAllBut = (datasets: number | null) =>
  world.sandbox.changeAccount({ limits: { ratePerSecond: null, ...(datasets === null ? {} : { datasets }) } });

test("a lake isn't caught up if a new dataset arrives empty although /datasets counts items, and later runs add them", async () => {
  choose([ELECTRONICS]);
  await world.sync();
  choose([ELECTRONICS, CENTRAL]);
  const headers = { 'content-type': 'application/x-ndjson', 'X-Export-Rows': '0' };
  const page = { content: [], page: 0, size: 1, totalElements: 0, totalPages: 0 };
  world.intercept = async (request, next) => {
    const url = new URL(request.url);
    if (ofDataset('/export', CENTRAL)(url)) return new Response('', { headers });
    return ofDataset('/items', CENTRAL)(url) ? Response.json(page) : next(request);
  };
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'feed', caught_up: false, caught_up_at: null });
  expect(row.listing_unknown).toBeGreaterThan(0n);
  expect(row.reason).toMatch(/the copy is incomplete: it lists 0 of \d+ items that \/datasets counts/);
  world.intercept = undefined;
  expect((await world.sync()).row).toMatchObject({ mode: 'poll', listing_unknown: 0n, caught_up: true });
  // Items that are no longer listed only arrive with a complete copy.
  world.pipeline.source.mode = 'snapshot';
  await world.sync();
  await expectExactCopy([ELECTRONICS, CENTRAL], false);
});

test('adding a dataset copies only the new dataset with its history, and removing a dataset is refused', async () => {
  choose([ELECTRONICS]);
  Object.assign(world.pipeline.proof, { products: true, sample: 5 });
  const { row } = await world.sync();
  await expectExactCopy([ELECTRONICS]);
  expect(row).toMatchObject({ products_different: 0n, sample_mismatches: 0n });
  expect(row.products_compared).toBeGreaterThan(0n);
  for (const endpoint of ['/export', '/items', '/changes', '/changes/recent', '/products']) {
    expect(new Set(datasetsOf(endpoint))).toEqual(new Set(['11']));
  }
  Object.assign(world.pipeline.proof, { products: false, sample: 0 });

  await landEvent(world.lakePath, 'e1', await goOn(60));
  expectEquation((await world.sync()).row);
  await expectExactCopy([ELECTRONICS]);
  await expectNoOtherSites();

  await goOn(40);
  choose([ELECTRONICS, CENTRAL]);
  const { budget } = world.pipeline;
  world.pipeline.budget = { ...budget, exportRows: { count: 0 }, calls: { count: (await countUsed(world)) + 30 } };
  expect(exitCodeOf(await failure(world.sync()))).toBe(5);
  expect(await peekUnfinishedRun(world.lakePath, 0n)).toBeUndefined(); // with the old list, runs go on
  world.pipeline.budget = budget;
  const said = await estimateWithWings(world.pipeline, testIo);
  world.requests.length = 0;
  const widened = (await world.sync()).row;
  expect(widened).toMatchObject({ mode: 'feed', missed: 0n, differences: 0n });
  expect(widened.reason).toContain('dataset 26 is new to the lake');
  expect(copies()).toEqual(['26']);
  expect(said.reason).toBe(widened.reason);
  await expectExactCopy([ELECTRONICS, CENTRAL]);
  const before = await readItems(world.lakePath);
  await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
  expect(await readItems(world.lakePath)).toEqual(before);
  await expectExactCopy([ELECTRONICS, CENTRAL]);

  world.requests.length = 0;
  choose([CENTRAL]);
  const error = await failure(world.sync());
  expect([error.code, exitCodeOf(error)]).toEqual(['config', 2]);
  expect(error.message).toContain('source.datasets is [26], but the lake contains dataset 11');
  await expect(estimateWithWings(world.pipeline, testIo)).rejects.toMatchObject({ code: 'config' });
  const backfill = backfillHistory(world.pipeline, { where: 'true' }, testIo, new AbortController().signal);
  await expect(backfill).rejects.toMatchObject({ code: 'config' });
  expect(world.requests).toEqual([]);

  await goOn(30);
  choose('all');
  expect((await world.sync()).row).toMatchObject({ mode: 'feed', missed: 0n, differences: 0n });
  expect(copies().sort()).toEqual(['14', '17', '20', '23', '29']);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  const ids = await readLake(
    world.lakePath,
    (glob) => `SELECT count(*), count(DISTINCT change_id) FROM ${glob('history')}`,
  );
  const changes = String((await world.sandbox.dump()).changes.length);
  expect(ids).toEqual([[changes, changes]]);

  // Datasets that the plan locks don't count as removals. When the plan includes them again, they are copied again.
  const all = await readItems(world.lakePath);
  lockAllBut(2);
  world.pipeline.source.mode = 'snapshot';
  expect((await world.sync()).row).toMatchObject({ gone: 0n });
  expect([...(await readItems(world.lakePath)).keys()].sort()).toEqual([...all.keys()].sort());
  await goOn(40);
  world.pipeline.source.mode = 'auto';
  lockAllBut(null);
  await world.sync(); // sees that they are there
  const { reason } = (await world.sync()).row;
  expect(reason).toContain('datasets 17, 20, 23, 26 and 29 are new to the lake');
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));

  choose([CENTRAL]);
  expect((await failure(world.sync())).message).toContain(
    'source.datasets is [26], but the lake contains all datasets, so those rows',
  );
});

test('a new dataset with older changes adds no days before the first day in price_spread_daily', async () => {
  world.pipeline.analysis.daily = 3;
  choose([ELECTRONICS]);
  await world.sync();
  const readFirstDays = () =>
    readLake(
      world.lakePath,
      (glob) => `SELECT min(day), count(DISTINCT product_id) > 0 FROM ${glob('price_spread_daily')}`,
    );
  const before = await readFirstDays();
  choose([ELECTRONICS, CENTRAL]);
  await world.sync();
  expect(await readFirstDays()).toEqual(before);
});

test('several datasets share one copy: an item in two datasets is one row, a change is one change', async () => {
  choose([ELECTRONICS, CENTRAL]);
  const said = await estimateWithWings(world.pipeline, testIo);
  world.requests.length = 0;
  const { row } = await world.sync();
  await expectExactCopy([ELECTRONICS, CENTRAL]);
  // Rows in both exports are billed twice and kept once.
  expect(copies().sort()).toEqual(['11', '26']);
  expect(row.export_rows).toBeGreaterThan(row.items);
  expectEquation(row);
  expect([said.exportRows, said.mode, BigInt(said.calls)]).toEqual([row.export_rows, 'snapshot', row.calls]);

  world.requests.length = 0;
  expect((await world.sync()).published).toBe(false);
  expect(world.requests).toEqual(['/plan', '/changes/recent?limit=1']);

  const service = { baseUrl: world.sandbox.baseUrl, apiKey: world.sandbox.keys.live };
  const { newest } = await askService(service, [ELECTRONICS, CENTRAL], testIo, new AbortController().signal);
  expect([newest?.id, datasetsOf('/changes/recent')]).toEqual([row.cursor_to, ['all', '11', '26']]);
  const table = await readLake(world.lakePath, (glob) => `SELECT dataset_id FROM ${glob('datasets')} ORDER BY 1`);
  expect(table).toEqual([['11'], ['26']]);

  await goOn(40);
  happen = { matches: ofDataset('/changes', CENTRAL), nth: 1, what: () => goOn(60) };
  expectEquation((await world.sync()).row);
  await world.sync(); // what came behind where the feed had stood
  await expectExactCopy([ELECTRONICS, CENTRAL]);

  await goOn(40);
  const before = await readItems(world.lakePath);
  lockAllBut(2);
  const error = await failure(world.sync());
  expect([error.code, exitCodeOf(error), error.facts.dataset]).toEqual(['plan_refuses', 4, '26']);
  expect(await readItems(world.lakePath)).toEqual(before);
  lockAllBut(null);
  await world.sync();
  await expectExactCopy([ELECTRONICS, CENTRAL]);
});

test('a stopped run continues in each dataset where it was', async () => {
  pageLimit = 60;
  choose([ELECTRONICS, CENTRAL]);
  world.pipeline.source.splitAbove = 20;
  happen = { matches: ofDataset('/export', CENTRAL), nth: 1, what: () => refuse(401) };
  expect((await failure(world.sync())).code).toBe('unauthorized');
  happen = { matches: ofDataset('/changes', CENTRAL), nth: 2, what: () => refuse(401) };
  expect((await failure(world.sync())).code).toBe('unauthorized');
  await goOn(30);
  await world.sync();
  const repeated = (endpoint: string) => asked(endpoint).filter((one, at, all) => all.indexOf(one) !== at);
  expect(repeated('/export')).toHaveLength(1); // that was refused
  // The refused request, and one after the previous end of the feed.
  expect(repeated('/changes')).toHaveLength(2);
  expect(asked('/export').filter((one) => one.includes('removed')).length).toBe(2);
  await expectExactCopy([ELECTRONICS, CENTRAL]);
});

test('without a feed, each of several datasets is read page by page, polled and compared separately', async () => {
  world.sandbox.changeAccount({ plan: 'pro', limits: { ratePerSecond: null, changeFeed: false } });
  choose([ELECTRONICS, CENTRAL]);
  world.pipeline.budget.exportRows = { count: 0 };
  for (const mode of ['snapshot', 'poll'] as const) {
    world.pipeline.source.mode = mode;
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode, export_rows: 0n });
    expectEquation(row);
    expect(new Set(datasetsOf('/items'))).toEqual(new Set(['11', '26']));
    await expectExactCopy([ELECTRONICS, CENTRAL], false);
    await goOn(40);
  }
  const [first] = (await listSoundRuns(world.lakePath, 0n)).runs;
  const entries = await readEntries(path.join(first?.folder ?? '', 'journal.ndjson'), RUN_FOLD);
  expect(entries.findLast(({ type }) => type === 'chosen')).toMatchObject({
    what: 'copy',
    way: 'pages',
    reason: expect.stringContaining('budget.exportRows'),
  });
});

test("a dataset that the key can't read is reported before anything is paid for", async () => {
  choose([ELECTRONICS, 12n]);
  const error = await failure(world.sync());
  expect([error.code, exitCodeOf(error)]).toEqual(['config', 2]);
  expect(error.message).toBe(
    "source.datasets: the key can't read dataset 12; it can read datasets 11, 14, 17, 20, 23, 26 and 29",
  );
  lockAllBut(2);
  expect((await failure(world.sync())).message).toMatch(
    /it can read datasets 11 and 14; 5 more datasets of the account aren't in the ".+" plan/,
  );
  choose([ELECTRONICS, CENTRAL]);
  const locked = await failure(world.sync());
  expect([locked.code, exitCodeOf(locked)]).toEqual(['plan_refuses', 4]);
  expect(locked.facts).toMatchObject({ limit: 'datasets', dataset: '26' });
  expect(asked('/export')).toEqual([]);
});

test('a run that has copied a new dataset and changes to a complete copy also copies the other datasets', async () => {
  world.pipeline.source.feedOverlap = 0;
  choose([ELECTRONICS]);
  await world.sync();
  await goOn(40);
  choose([ELECTRONICS, CENTRAL]);
  world.requests.length = 0;
  happen = { matches: ofDataset('/changes', ELECTRONICS), nth: 1, what: () => refuse(410) };
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot', gone: 0n });
  expect(copies()).toEqual(['26', '11']);
  expectEquation(row);
  await expectExactCopy([ELECTRONICS, CENTRAL]);
});

test('a complete comparison is refused by the total of its exports, in which an item in two datasets counts twice', async () => {
  choose([ELECTRONICS, CENTRAL]);
  const { row } = await world.sync();
  const { budget } = world.pipeline;
  world.pipeline.reconcile = 1;
  world.pipeline.budget = { ...budget, exportRows: { count: 0 }, calls: { count: (await countUsed(world)) + 20 } };
  const { mode, reason } = await estimateWithWings(world.pipeline, testIo);
  expect([mode, reason]).toEqual([
    'feed',
    expect.stringContaining(
      `a complete comparison is due, but the export needs ${row.export_rows} rows, but only 0 of the 0 allowed by budget`,
    ),
  ]);
});

test('a run that was refused before it requested items continues with the same datasets, but is replaced for others', async () => {
  const refusePlan = async () => {
    happen = { matches: (url) => url.pathname.endsWith('/plan'), nth: 1, what: () => refuse(401) };
    expect((await failure(world.sync())).code).toBe('unauthorized');
  };
  choose([ELECTRONICS]);
  await refusePlan();
  expect(await world.sync()).toMatchObject({ resumed: true, row: { tries: 2n, calls_refused: 1n } });
  await goOn(10);
  await refusePlan();
  choose([ELECTRONICS, CENTRAL]);
  expect(await world.sync()).toMatchObject({ resumed: false, row: { tries: 1n } });
  await expectExactCopy([ELECTRONICS, CENTRAL]);
});
