import { expect, test, vi } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { syncPipeline } from '../../src/sync/sync.js';
import { openWorld, testIo } from './world.js';

test('the session that writes items knows the names of the datasets: many rows are told apart as they are read', async () => {
  const world = await openWorld({ items: 200, sites: 3 });
  const known: unknown[] = [];
  const { rows } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, 'rows').mockImplementation(async function (this: Database, sql, values) {
    if (sql.startsWith('COPY') && sql.includes('/items/'))
      known.push((await rows.call(this, "SELECT getvariable('dataset_pattern') IS NOT NULL AS known"))[0]?.known);
    return rows.call(this, sql, values);
  });
  try {
    await syncPipeline(world.pipeline, testIo);
    expect(known).toEqual([true]);
  } finally {
    spy.mockRestore();
    await world.close();
  }
});

test('while a sample is judged, the session of the run sees the items of the lake', async () => {
  const world = await openWorld({ items: 200, sites: 3 });
  world.pipeline.proof.sample = 5;
  let first: Database | undefined;
  let seen: unknown;
  const { run } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, 'run').mockImplementation(async function (this: Database, sql, values) {
    first ??= this;
    if (sql.includes('TABLE judged_sample AS')) seen = (await first.row('SELECT count(*) AS n FROM items'))?.n;
    return run.call(this, sql, values);
  });
  try {
    const { row } = await syncPipeline(world.pipeline, testIo);
    expect(row).toMatchObject({ sampled: 5n, sample_mismatches: 0n });
    expect(seen).toBe(200n);
  } finally {
    spy.mockRestore();
    await world.close();
  }
});
