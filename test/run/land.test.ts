import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { landWithWings } from '../../src/wings/index.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

const world = await openWorld({ items: 60, sites: 2, pastDays: 3 });
afterAll(() => world.close());

const exports = () => world.requests.filter((url) => url.startsWith('/export'));

test('a run that only lands creates no table, and the next run continues it and pays for nothing twice', async () => {
  const landed = await landWithWings(world.pipeline, testIo);
  expect(landed).toMatchObject({ landed: true, resumed: false, runNumber: 1n });
  expect(landed.rows).toBeGreaterThanOrEqual(60n);
  expect(existsSync(path.join(landed.folder, 'journal.ndjson'))).toBe(true);
  expect(existsSync(path.join(world.lakePath, 'items', '_delta_log'))).toBe(false);
  expect(exports()).toHaveLength(1);
  const asked = world.requests.length;

  const again = await landWithWings(world.pipeline, testIo);
  expect(again).toMatchObject({ landed: true, resumed: true, runNumber: 1n, rows: landed.rows });
  // Each attempt requests the plan.
  expect(world.requests.slice(asked).filter((url) => url !== '/plan')).toEqual([]);

  const report = await world.sync();
  expect(report).toMatchObject({ published: true, resumed: true, row: { run_number: 1n, mode: 'snapshot' } });
  expect(exports()).toHaveLength(1);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

test('landed changes are applied by the next run', async () => {
  await world.sandbox.advance({ hours: 3, changes: 20 });
  const landed = await landWithWings(world.pipeline, testIo);
  expect(landed).toMatchObject({ landed: true, runNumber: 2n });
  const report = await world.sync();
  expect(report).toMatchObject({ published: true, resumed: true, row: { run_number: 2n } });
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

test('a run without changes is removed', async () => {
  expect(await landWithWings(world.pipeline, testIo)).toMatchObject({ landed: false });
  expect(await world.sync()).toMatchObject({ published: false, resumed: false });
});
