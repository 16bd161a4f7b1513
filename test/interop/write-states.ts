import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Database } from '../../src/duckdb/connection.js';
import { quoteLiteral } from '../../src/duckdb/quote.js';
import { realIo } from '../../src/io.js';
import { compactLake } from '../../src/lake/compact.js';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { TABLE_NAMES } from '../../src/model.js';
import { type Columns, writeOlderLake } from '../pipeline/older-lake.js';
import { openWorld, type World } from '../pipeline/world.js';

/**
 * Writes lakes in the states that a lake comes to, all tables filled by runs over the sandbox, and beside each what
 * other readers must find there: `write-states.ts <folder>`.
 * `evolved`: files of an older version beside those of this one. `compacted`: the same, afterwards. `retained`: with
 * superseded files, and `retained-before` as it was a run earlier.
 */
const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: write-states.ts <folder>');

/** What the older version's tables lack: columns in the middle and at the end, texts, lists, numbers, times, truths. */
const LACKING: Columns = {
  history: ['url'],
  items: ['gone_at', 'datasets', 'previous_price'],
  price_spread_daily: ['stddev', 'attribution'],
  runs: ['usage_calls', 'overage', 'caught_up_at', 'difference_columns'],
  check_results: ['let_through'],
  rejects: ['rejected_at'],
};

const world = await openWorld({ items: 200, sites: 8, faults: ['export:malformed@1'] });
try {
  world.pipeline.source.products = 'all';
  await world.sync();
  await advance(world);
  const current = world.lakePath;
  const older = join(world.folder, 'older');
  await writeOlderLake(current, older, LACKING);

  world.renew(older);
  keepSetting(world);
  await advance(world);
  await keepState(world.lakePath, 'evolved');
  await compact(world.lakePath);
  await keepState(world.lakePath, 'compacted');

  world.renew(current);
  keepSetting(world);
  world.pipeline.lake.retention = 48 * 3_600_000;
  await advance(world);
  await keepState(world.lakePath, 'retained-before');
  await advance(world);
  await keepState(world.lakePath, 'retained');
} finally {
  await world.close();
}

/** A day passes, so that price_spread_daily gets one more. */
async function advance(world: World): Promise<void> {
  await world.sandbox.advance({ hours: 24, changes: 60 });
  world.clock.days += 1;
  await world.sync();
}

function keepSetting(world: World): void {
  world.pipeline.source.products = 'all';
}

async function compact(lakePath: string): Promise<void> {
  await withDatabase(async (db) => {
    const lake = await openLake(lakePath, { create: false });
    await createTableViews(db, lake);
    await compactLake(db, lake, 'always', realIo);
  });
}

/** The lake as it stands, and every row of its tables, by our own views, in files of their own. */
async function keepState(lakePath: string, state: string): Promise<void> {
  await mkdir(join(folder ?? '', state, 'expected'), { recursive: true });
  await cp(lakePath, join(folder ?? '', state, 'lake'), { recursive: true });
  await withDatabase(async (db) => {
    await createTableViews(db, await openLake(lakePath, { create: false }));
    for (const table of TABLE_NAMES) {
      const row = await db.row(`SELECT count(*) AS n FROM ${table}`);
      if (row?.n === 0n) throw new Error(`${state}: ${table} has no rows, and would prove nothing`);
      const path = join(folder ?? '', state, 'expected', `${table}.parquet`);
      await db.run(`COPY ${table} TO ${quoteLiteral(path)} (FORMAT parquet)`);
    }
  });
}

async function withDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const db = await Database.open({ threads: 2 });
  try {
    await work(db);
  } finally {
    db.close();
  }
}
