import { realIo } from '../../src/io/io.js';
import { compactLake } from '../../src/lake/compact.js';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { openWorld, type World } from '../run/world.js';
import { keepState, withDatabase } from './keep-state.js';

/**
 * Writes lakes in the states that a lake comes to, all tables filled by runs over the sandbox, and beside each what
 * other readers must find there: `write-states.ts <folder>`.
 * `compacted`: after `compact`. `retained`: with superseded files, and `retained-before` as it was a run earlier.
 */
const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: write-states.ts <folder>');

const world = await openWorld({ items: 200, sites: 8, faults: ['export:malformed@1'] });
try {
  world.pipeline.source.products = 'all';
  await world.sync();
  await advance(world);
  const current = world.lakePath;
  world.renew(current);
  keepSetting(world);
  await advance(world);
  await compact(world.lakePath);
  await keepState(folder, 'compacted', world.lakePath, { title: 'after `compact`', plain: true });

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
