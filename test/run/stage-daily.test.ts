import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { selectDailySpreads } from '../../src/analyze/daily-spread.js';
import { commitTable } from '../../src/lake/commit.js';
import { markPartial } from '../../src/lake/partial.js';
import { readTable, readTables } from '../../src/lake/read.js';
import { LakeRows } from '../../src/lake/table-rows.js';
import { findStandings } from '../../src/run/open/open-tables.js';
import type { FoundLake } from '../../src/run/open/run-parts.js';
import { Staging } from '../../src/run/open/stage.js';
import type { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { itself } from '../../src/sql/sql.js';
import { tableRelation } from '../../src/sql/table-relation.js';
import type { Lake } from '../../src/tables/layout.js';
import { stageDays } from '../../src/wings/daily/days.js';
import { DAY, HOUR, loadHistoryWorld, type PastChange, type PastItem, START } from '../analyze/history-world.js';
import { named } from '../apply/model-world.js';
import { makeLake, openDatabase, readRows } from '../lake/fixture.js';
import { createSeeded } from '../seeded.js';
import { testIo } from './world.js';

const TABLE = 'price_spread_daily';
const DAYS = 8;
let lake: Lake;
let db: Database;

beforeEach(async () => {
  lake = await makeLake('da*ly');
  db = await openDatabase();
});

/** A change, and when the service shows it. */
interface Known extends PastChange {
  item: number;
  knownAt: number;
}

/**
 * Listings in four shops that live for eight days; what happens is known at once or up to a day late. Now and then one
 * changes its currency: so do some shops.
 */
function liveWorld(seed: number): Known[] {
  const random = createSeeded(seed);
  const changes: Known[] = [];
  for (let item = 0; item < 10; item += 1) {
    let units: number | null = null;
    let listed = false;
    let currency = 'EUR';
    for (let at = random.integer(2 * DAY); at < DAYS * DAY; at += 1 + random.integer(2 * DAY)) {
      const before: number | null = units;
      const kind: PastChange['kind'] =
        units === null ? 'NEW' : !listed ? 'RELISTED' : random.integer(5) === 0 ? 'REMOVED' : 'CHANGED';
      listed = kind !== 'REMOVED';
      if (kind !== 'REMOVED') units = 1 + random.integer(50);
      const unitsBefore = kind === 'CHANGED' || kind === 'RELISTED' ? before : null;
      const late = random.integer(3) === 0 ? random.integer(DAY) : 0;
      const known = { item, knownAt: at + late, changeId: 0, kind, at, units, unitsBefore } as const;
      const isOther = kind === 'CHANGED' && random.integer(6) === 0;
      const currencyBefore = isOther ? { currencyBefore: currency } : {};
      if (isOther) currency = currency === 'EUR' ? 'PLN' : 'EUR';
      changes.push({ ...known, ...currencyBefore, currency, names: 'nothing', origin: 'feed' });
    }
  }
  changes.sort((a, b) => a.at - b.at);
  return changes.map((change, index) => ({ ...change, changeId: index + 1 }));
}

type ProductOf = (itemId: number, now: number) => string | null;

const twoProducts: ProductOf = (itemId) => (itemId % 2 === 1 ? 'p' : "q'1");

/** Moves items between products, as shops add, correct and remove GTINs. */
function movingProducts(seed: number): ProductOf {
  const random = createSeeded(seed);
  const moves = Array.from({ length: 12 }, () => ({
    itemId: 1 + random.integer(10),
    at: random.integer(DAYS * DAY),
    productId: random.pick(['p', "q'1", 'r', null]),
  })).sort((a, b) => a.at - b.at);
  return (itemId, now) => {
    const last = moves.findLast((move) => move.itemId === itemId && move.at <= now);
    return last === undefined ? (itemId % 4 === 0 ? null : twoProducts(itemId, now)) : last.productId;
  };
}

/** The lake's rows at a time. Changes that the previous run didn't know belong to this run. */
function lookAt(changes: Known[], now: number, before: number, runId: string, productOf: ProductOf): PastItem[] {
  const byItem = new Map<number, PastChange[]>();
  for (const { item, knownAt, ...change } of changes) {
    if (knownAt > now) continue;
    byItem.set(item, [...(byItem.get(item) ?? []), { ...change, runId: knownAt > before ? runId : 'earlier' }]);
  }
  return [...byItem].map(([item, past]) => {
    const last = past.at(-1);
    const priced = past.filter(({ unitsBefore }) => unitsBefore !== null).at(-1);
    return {
      itemId: item + 1,
      productId: productOf(item + 1, now),
      siteId: 1 + (item % 4),
      units: last?.units ?? null,
      unitsBefore: priced?.unitsBefore ?? null,
      changedAt: priced?.at ?? null,
      currency: last?.currency ?? null,
      firstSeenAt: past[0]?.at ?? null,
      removedAt: last?.kind === 'REMOVED' ? last.at : null,
      goneAt: null,
      past,
    };
  });
}

interface RunOptions {
  now: number;
  before?: number;
  days?: number;
  productOf?: ProductOf;
}

/** Runs at a time. Returns the committed change of the table, or undefined if there is none. */
async function runDaily(changes: Known[], { now, before = -DAY, days = 90, productOf = twoProducts }: RunOptions) {
  const runId = `run-${now}`;
  await db.run('CREATE TABLE IF NOT EXISTS items AS SELECT * FROM (SELECT NULL) WHERE false');
  await db.run('CREATE OR REPLACE TABLE items_before AS FROM items');
  await loadHistoryWorld(db, lookAt(changes, now, before, runId, productOf));
  await db.run('UPDATE items SET run_id = $1', [runId]);
  await db.run(`CREATE OR REPLACE TABLE runs AS SELECT make_timestamptz(${START}) AS started_at`);
  const graph = new RelationGraph(db);
  const tables = await readTables(lake);
  const found = {
    ...{ lake, tables, repairs: {}, standing: findStandings(tables, 1n, {}) },
    before: new LakeRows(graph, lake, tables, () => 0n),
    pipeline: { analysis: { daily: days }, lake: { targetFileSize: undefined } },
  } as unknown as FoundLake;
  const next = { rows: async (table: string) => named(table) };
  const itemsBefore = before < 0 ? undefined : named('items_before');
  const staging = new Staging({ found, graph, landing: { runId, runNumber: 1n }, io: testIo }, {});
  const staged = await stageDays(staging, next, itemsBefore, new Date((START + now) / 1000));
  if (staged.change === undefined) return undefined;
  const { run: _, ...applied } = staged.change.applied;
  const change = { ...staged.change, applied, add: await staged.sealed };
  await commitTable(lake, change, { runId, operation: 'TEST', at: new Date(0) });
  return change;
}

const WITHOUT_RUN = '* EXCLUDE (run_id)';

async function relateDays(): Promise<string> {
  const { files } = await readTable(lake, TABLE);
  return tableRelation(
    TABLE,
    files.map((file) => path.join(lake.root, TABLE, file.path)),
  );
}

async function readDays(): Promise<string[]> {
  return readRows(db, `(SELECT ${WITHOUT_RUN} FROM ${await relateDays()})`);
}

/** The same days computed from scratch from what is known now. */
async function makeAnew(first: string, last: string): Promise<string[]> {
  const lines: string[] = [];
  const sources = { items: itself('items'), history: itself('history'), sites: itself('sites') };
  for await (const rows of selectDailySpreads(new RelationGraph(db), sources, { first, last, runId: 'r' }))
    lines.push(...(await readRows(db, `(SELECT ${WITHOUT_RUN} FROM (${rows.text}))`)));
  return lines.sort();
}

describe('closed days', () => {
  it.each([
    [1, 'late changes', twoProducts],
    [3, 'late changes and GTINs that become known later', movingProducts(3)],
    [5, 'late changes and GTINs that become known later', movingProducts(5)],
  ])(
    'of world %i that are updated run by run, with %s, equal those computed from scratch',
    async (seed, _what, productOf) => {
      const changes = liveWorld(seed);
      let before = -DAY;
      for (let now = 5 * HOUR; now < (DAYS + 1) * DAY; now += 15 * HOUR) {
        await runDaily(changes, { now, before, productOf });
        before = now;
      }
      const rows = await readDays();
      expect(rows.length).toBeGreaterThan(8);
      expect(rows).toEqual(await makeAnew('2026-01-01', '2026-01-08'));
    },
  );

  it('reach back as far as history does, or as far as configured', async () => {
    const changes = liveWorld(1);
    const now = 6 * DAY;
    await runDaily(changes, { now });
    const rows = await readDays();
    expect(rows).toEqual(await makeAnew('2026-01-01', '2026-01-06'));
    await runDaily(changes, { now, days: 0 });
    expect(await readDays()).toEqual([]);
    await runDaily(changes, { now, days: 2 });
    expect(await readDays()).toEqual(await makeAnew('2026-01-05', '2026-01-06'));
  });

  it('are unchanged if no day has closed and no change is late', async () => {
    const changes = liveWorld(1);
    const first = await runDaily(changes, { now: 5 * DAY + HOUR });
    expect(first?.applied).toEqual({ day: 20_458n, firstDay: 20_454n });
    const onTime = changes.map((change) => ({ ...change, knownAt: change.at }));
    expect(await runDaily(onTime, { now: 5 * DAY + 2 * HOUR, before: 5 * DAY + HOUR })).toBeUndefined();
  });

  it('need only the files from the day of a late change onward', async () => {
    const sell = (item: number): Known => {
      const known = { kind: 'NEW', at: HOUR, units: 10 + item, unitsBefore: null, currency: 'EUR' } as const;
      return { ...known, names: 'nothing', item, knownAt: HOUR, changeId: item, origin: 'feed' };
    };
    const changes = [sell(1), sell(2), sell(3)];
    for (const day of [1, 2, 3, 4]) {
      await runDaily(changes, { now: day * DAY + HOUR, before: (day - 1) * DAY + HOUR, productOf: () => 'p' });
    }
    const { files } = await readTable(lake, TABLE);
    expect(files).toHaveLength(4);
    await markPartial(lake, { remote: 's3://bucket' });
    const brought: string[] = [];
    lake = { ...lake, provide: async (_table, some) => void brought.push(...some.map(({ stats }) => stats)) };
    const late = { at: 2 * DAY + HOUR, knownAt: 4 * DAY + 2 * HOUR, units: 40, unitsBefore: 11 };
    changes.push({ ...sell(1), ...late, kind: 'CHANGED', changeId: 4 });
    const change = await runDaily(changes, { now: 4 * DAY + 3 * HOUR, before: 4 * DAY + HOUR, productOf: () => 'p' });
    expect(change?.remove).toHaveLength(2);
    expect(brought.map((stats) => JSON.parse(stats).minValues.day).sort()).toEqual(['2026-01-03', '2026-01-04']);
    expect(await readDays()).toEqual(await makeAnew('2026-01-01', '2026-01-04'));
  });

  it("aren't begun without history", async () => {
    expect(await runDaily([], { now: HOUR })).toBeUndefined();
  });
});
