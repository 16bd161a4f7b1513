import { join } from 'node:path';
import { realIo } from '../../src/io/io.js';
import { compactLake } from '../../src/lake/compact.js';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { type Columns, writeOlderLake } from '../sync/older-lake.js';
import { openWorld, type World } from '../sync/world.js';
import { keepState, withDatabase } from './keep-state.js';

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
  await keepState(folder, 'evolved', world.lakePath, {
    title: 'files older than columns beside newer ones',
    plain: false,
  });
  await compact(world.lakePath);
  await keepState(folder, 'compacted', world.lakePath, { title: 'the same, after `compact`', plain: true });

  world.renew(current);
  keepSetting(world);
  world.pipeline.lake.retention = 48 * 3_600_000;
  await advance(world);
  await keepState(folder, 'retained-before', world.lakePath, { title: 'with a retention', plain: false });
  await advance(world);
  await keepState(folder, 'retained', world.lakePath, { title: 'with a retention, a run later', plain: false });
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
