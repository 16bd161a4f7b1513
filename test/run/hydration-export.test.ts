import { afterEach, describe, expect, test } from 'vitest';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, type World } from './world.js';

let world: World;
afterEach(() => world.close());

const exports = () => world.requests.filter((request) => request.startsWith('/export'));
const singles = () => world.requests.filter((request) => /^\/items\/\d+$/.test(request));
const pages = () => world.requests.filter((request) => request.startsWith('/items?'));

/** A world in which most of 1,400 items have changed since the first run, on a plan with few calls. */
async function changeMuch(): Promise<void> {
  world = await openWorld({
    items: 1400,
    sites: 4,
    plan: 'pro',
    exportShape: 'flat-snake',
    limits: { apiCallsPerMonth: 60, exportRowsPerMonth: 1_000_000, ratePerSecond: null },
  });
  await world.sync();
  await world.sandbox.advance({ hours: 12, changes: 1400 });
  world.requests.length = 0;
}

describe('many changed items, if calls are scarce', () => {
  test('are read with one export in the configured format', async () => {
    await changeMuch();
    for (const format of ['csv', 'ndjson'] as const) {
      world.pipeline.source.export = format;
      const { row } = await world.sync();
      expect(exports()).toEqual([expect.stringMatching(`^/export\\?format=${format}&status=all&changedSince=`)]);
      expect(pages()).toHaveLength(1);
      expect(singles()).toEqual([]);
      expect(row.export_rows).toBeGreaterThan(700n);
      expect(row).toMatchObject({ export_rows_landed: row.export_rows, export_rows_lost: 0n, rejected: 0n });
      expect(row.received).toBe(row.written + row.deduplicated);
      await expectExactCopy(world);
      await world.sandbox.advance({ hours: 12, changes: 1400 });
      world.requests.length = 0;
    }
  });

  test('are read page by page if the export is interrupted, which loses its rows but not the copy', async () => {
    await changeMuch();
    world.sandbox.armFaults(['export:drop=0.5']);
    const { row } = await world.sync();
    expect(exports()).toHaveLength(1);
    expect(pages().length).toBeGreaterThan(2);
    expect(row).toMatchObject({ export_rows: 0n, export_rows_landed: 0n });
    expect(row.export_rows_lost).toBeGreaterThan(700n);
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
    await expectExactCopy(world);
  });
});
