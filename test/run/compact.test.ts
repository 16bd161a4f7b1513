import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import type { Io } from '../../src/io/io.js';
import { openLake } from '../../src/lake/lake.js';
import { readPointer } from '../../src/lake/pointer.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { select, write } from '../lake/items.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

let lake: Lake;

const world = await openWorld({ items: 60, sites: 2, limits: { historyDays: 3 } });
beforeAll(async () => {
  await world.sync();
  lake = await openLake(world.lakePath, { create: false });
});
afterAll(() => world.close());

/** Writes files with one row each, like many runs do. */
async function addRejects(count: number): Promise<void> {
  const db = await Database.open();
  for (let i = 0; i < count; i++) {
    const texts = { table_name: "'items'", part: "'p'", reason: "'r'", raw: "'x'", run_id: `'${i}'` };
    const row = { ...texts, line_number: '1', rejected_at: "TIMESTAMPTZ '2026-11-01 00:00:00+00'" };
    await write(db, lake, { table: 'rejects', select: select('rejects', row) });
  }
  await db.close();
}

const countFiles = async () => (await readTable(lake, 'rejects')).files.length;

test('after publishing, a sync merges the files of a table that has too many, and the copy stays exact', async () => {
  await addRejects(17);
  await world.sandbox.advance({ hours: 1, changes: 10 });
  const report = await world.sync();
  expect(report.published).toBe(true);
  expect(await countFiles()).toBe(1);
  // History has few files, and none of its days is rewritten.
  expect((await readTable(lake, 'history')).version).toBe(1n);
  const pointer = await readPointer(lake);
  expect(pointer).toMatchObject({ runId: report.row.run_id });
  expect(pointer?.tables.rejects).toMatchObject({ rows: 17n, files: [{ rows: 17n }] });
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

test('a crash between a compaction and lake.json leaves the table complete, and the next sync updates lake.json', async () => {
  await addRejects(3);
  const dying: Io = {
    ...testIo,
    log: (_level, event) => {
      if (event === 'lake.compacted') throw new Error('the process dies');
    },
  };
  const context = openContext();
  await expect(runCompact({ lake: world.lakePath }, { ...context, io: { ...context.io, ...dying } })).rejects.toThrow();
  const { version } = await readTable(lake, 'rejects');
  expect((await readPointer(lake))?.tables.rejects?.version).toBeLessThan(version);
  expect((await syncWithWings(world.pipeline, testIo)).published).toBe(false);
  expect((await readPointer(lake))?.tables.rejects?.version).toBe(version);
});

test('the command merges small files, reports it, and finds nothing the next time', async () => {
  const context = openContext();
  await runCompact({ lake: world.lakePath }, context);
  expect(context.output.text).toMatch(/runs +2 +2 +1 +2\n/);
  const again = openContext();
  await runCompact({ lake: world.lakePath }, again);
  expect(again.output.text).toBe('No table has small files to merge.\n');
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  await expect(runCompact({ lake: path.join(world.folder, 'nowhere') }, openContext())).rejects.toMatchObject({
    code: 'lake_invalid',
  });
});

test('lake.retention keeps superseded files; without it, a plain glob equals the table again after the next run', async () => {
  world.pipeline.lake.retention = 24 * 3_600_000;
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await world.sync();
  const { size } = await readTruth(world.sandbox);
  expect((await readTable(lake, 'items')).files.reduce((sum, file) => sum + Number(file.rows), 0)).toBe(size);
  const glob = async () => Number((await readGlob('items/*.parquet'))[0]);
  expect(await glob()).toBeGreaterThan(size);
  world.pipeline.lake.retention = 0;
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await world.sync();
  await world.sync();
  expect(await glob()).toBe((await readTruth(world.sandbox)).size);
});

async function readGlob(pattern: string): Promise<unknown[]> {
  const db = await Database.open();
  const row = await db.row(`SELECT count(*) AS n FROM read_parquet('${path.join(world.lakePath, pattern)}')`);
  await db.close();
  return [row?.n];
}
