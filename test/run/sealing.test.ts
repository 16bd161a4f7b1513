import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { afterEach, expect, test, vi } from 'vitest';
import { beginStage } from '../../src/lake/stage.js';
import { Database } from '../../src/sql/connection.js';
import { makeLake, openDatabase, select } from '../lake/fixture.js';
import { openWorld, readItems, readTruth } from './world.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** From now on, the writer reports one row more than it has written into files of a table. */
function miscount(table: string): void {
  const { rows } = Database.prototype;
  vi.spyOn(Database.prototype, 'rows').mockImplementation(async function (this: Database, sql, values) {
    const found = await rows.call(this, sql, values);
    const isStaged = sql.startsWith('COPY') && sql.includes(`/${table}/`) && sql.includes('/staging/');
    const more = (row: Record<string, DuckDBValue>) => ({ ...row, count: BigInt(String(row.count)) + 1n });
    return isStaged ? found.map(more) : found;
  });
}

const FAULT = { code: 'lake_invalid', message: expect.stringContaining('the writer reported') };
const SITE = { table: 'sites' as const, runId: 'r', select: select('sites', { site_id: '1' }) };

test('files are known before they are sealed, and have checksums afterwards', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const { files, sealed } = await beginStage(db, lake, SITE);
  expect(files.map(({ rows, sha256 }) => [rows, sha256])).toEqual([[1n, undefined]]);
  expect(await sealed).toEqual(files.map((file) => ({ ...file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })));
});

test("a file that can't be sealed makes the stage fail, and its files are removed", async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  miscount('sites');
  const { files, sealed } = await beginStage(db, lake, SITE);
  await expect(sealed).rejects.toMatchObject(FAULT);
  await expect(readdir(path.dirname(files[0]?.stagedAt ?? ''))).rejects.toMatchObject({ code: 'ENOENT' });
});

test("a run whose items or offers can't be sealed publishes nothing, and the next run does", async () => {
  const world = await openWorld({ items: 100, sites: 3 });
  try {
    for (const table of ['items', 'offers']) {
      miscount(table);
      await expect(world.sync()).rejects.toMatchObject(FAULT);
      expect(await readdir(path.join(world.lakePath, 'history')).catch(() => [])).toEqual([]);
      vi.restoreAllMocks();
    }
    await world.sync();
    const [lake, truth] = await Promise.all([readItems(world.lakePath), readTruth(world.sandbox)]);
    expect(lake.size).toBe(truth.size);
    for (const [id, row] of truth) expect(lake.get(id)).toEqual(row);
  } finally {
    await world.close();
  }
});
