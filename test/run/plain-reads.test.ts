import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { openLake } from '../../src/lake/lake.js';
import { readPointer } from '../../src/lake/pointer.js';
import { readTable } from '../../src/lake/read.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { optimize } from '../lake/foreign-writer.js';
import { openWorld, readItems, readLoggedTables, readTruth } from './world.js';

const world = await openWorld({ items: 20, sites: 2, limits: { historyDays: 2 } });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
});
afterAll(() => world.close());

/** Expects every data file on disk in its table's folder, and listed in the log. */
async function expectFlat(): Promise<void> {
  const lake = await openLake(world.lakePath, { create: false });
  for (const table of TABLE_NAMES) {
    const { files } = await readTable(lake, table);
    const names = await readdir(path.join(world.lakePath, table), { recursive: true });
    const onDisk = names.filter((name) => name.endsWith('.parquet') && !name.startsWith('_')).sort();
    expect(onDisk).toEqual(files.map((file) => file.path));
    for (const file of files) expect(file.path).not.toMatch(/[/=]/);
  }
}

async function readTables(tables: readonly TableName[]) {
  const all = await readLoggedTables(world.lakePath);
  return tables.map((table) => [table, all[table]]);
}

test("files that another program wrote, in folders or without columns, are rewritten in pricelake's layout", async () => {
  const tables = ['items', 'history', 'sites'] as const;
  const before = await readTables(tables);
  for (const table of tables) await optimize(world.lakePath, table);
  await world.sync();
  await expectFlat();
  await runVerify({ lake: world.lakePath }, openContext());
  expect(await readTables(tables)).toEqual(before);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  const lake = await openLake(world.lakePath, { create: false });
  for (const table of tables) {
    for (const { sha256 } of (await readTable(lake, table)).files) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('an empty table can be read with a glob, with its columns and types, until its first rows arrive', async () => {
  world.renew();
  await world.sync();
  const lake = await openLake(world.lakePath, { create: false });
  const db = await Database.open();
  try {
    await createTableViews(db, lake);
    let empty = 0;
    for (const table of TABLE_NAMES) {
      const glob = `read_parquet('${world.lakePath}/${table}/*.parquet')`;
      const describe = async (relation: string) =>
        (await db.rows(`DESCRIBE SELECT * FROM ${relation}`)).map((row) => [row.column_name, row.column_type]);
      expect(await describe(glob)).toEqual(await describe(table));
      const row = await db.row(`SELECT count(*) AS n FROM ${glob}`);
      if (row?.n === 0n) empty += 1;
    }
    expect(empty).toBeGreaterThan(0);
  } finally {
    await db.close();
  }
  await expectFlat();
  expect((await readPointer(lake))?.tables.rejects).toMatchObject({ rows: 0n, files: [{ rows: 0n }] });
  const { files } = await readTable(lake, 'rejects');
  await world.sandbox.advance({ hours: 1, changes: 5 });
  await world.sync();
  expect((await readTable(lake, 'rejects')).files).toEqual(files);
});
