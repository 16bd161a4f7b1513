/**
 * Writes a lake with metadata of Iceberg: `write-iceberg.ts <folder>`. It has a first copy, increments, rows
 * that go, a crash between Delta's commits and the metadata, and a compaction. `expired` is a copy in
 * another place, where the metadata begins again, two days and three runs later: older snapshots and their files have gone.
 */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { withIceberg } from '../../src/wings/iceberg/index.js';
import { openContext } from '../cli/open-context.js';
import { openWorld } from '../run/world.js';

const folder = path.resolve(process.argv[2] ?? '.');
const DAY_MS = 86_400_000;
const INCREMENTS = 6;

const world = await openWorld({ items: 3000, sites: 3, pastDays: 3, faults: ['export:malformed@1'] });
try {
  const lake = { ...world.pipeline.lake, path: path.join(folder, 'lake'), iceberg: true as const, retention: DAY_MS };
  world.pipeline = { ...world.pipeline, lake };
  await world.sync();
  for (let n = 1; n <= INCREMENTS; n++) {
    await world.sandbox.advance({ hours: 5, changes: 60 });
    // As if the process of the last but one had ended before the metadata was written.
    world.pipeline.lake.iceberg = n === INCREMENTS - 1 ? undefined : true;
    await world.sync();
  }
  const context = openContext(true);
  await withIceberg(lake, context.io, () => runCompact({ lake: lake.path }, context));
  const expired = { ...lake, path: path.join(folder, 'expired') };
  await cp(lake.path, expired.path, { recursive: true });
  world.pipeline = { ...world.pipeline, lake: expired };
  for (const days of [0, 0.5, 2]) {
    world.clock.days = days;
    await world.sandbox.advance({ hours: 5, changes: 60 });
    await world.sync();
  }
} finally {
  await world.close();
}
