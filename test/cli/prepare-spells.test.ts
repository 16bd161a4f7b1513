import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import { openSpells } from '../../src/cli/prepare-spells.js';
import { readLake } from '../../src/cli/read-lake.js';
import { commitTable } from '../../src/lake/commit.js';
import { openLake } from '../../src/lake/lake.js';
import { stageTable } from '../../src/lake/stage.js';
import { publishLake } from './lake-fixture.js';

const folder = () => join(path, '_pricelake', 'prepared');
const signal = new AbortController().signal;

const path = await publishLake();
afterAll(() => rm(join(path, '..'), { recursive: true }));

/** Returns the spells that a query reads, the logged events, and where the spells are kept. */
function readSpells(fewChanges = 0n, variables: Record<string, string> = {}) {
  return readLake({ path, signal }, async (opened) => {
    await setVariables(opened.db, variables);
    const events: string[] = [];
    const io = { log: (_: string, event: string) => void events.push(event), now: () => new Date() };
    const computed = await openSpells(opened, io, fewChanges).then(async (spells) => {
      const rows = await opened.db.rows('FROM price_spells ORDER BY ALL');
      await spells.prepare();
      return { rows, folder: spells.folder };
    });
    const kept = await opened.db.rows('FROM price_spells ORDER BY ALL');
    expect(kept).toEqual(computed.rows);
    const [view] = await opened.db.rows("SELECT sql FROM duckdb_views() WHERE view_name = 'price_spells'");
    return { rows: kept, events, folder: computed.folder, isKept: String(view?.sql).includes('read_parquet') };
  });
}

it('the price spells of a large lake are computed once per version, and equal those of the view', async () => {
  const first = await readSpells();
  expect(first).toMatchObject({ events: ['price_spells.preparing'], isKept: true });
  expect(first.rows.length).toBeGreaterThan(2);
  const files = await readdir(folder());
  expect(files).toHaveLength(1);
  expect(await readSpells()).toEqual({ ...first, events: [] });

  const all = await readSpells(0n, { with_suspects: 'true' });
  expect(all.events).toEqual(['price_spells.preparing']);
  expect(await readdir(folder())).not.toEqual(files);
  expect((await readSpells()).rows).toEqual(first.rows);

  const lake = await openLake(path, { create: false });
  await readLake({ path, signal }, async ({ db }) => {
    const add = await stageTable(db, lake, {
      table: 'history',
      runId: 'r2',
      select:
        'SELECT * REPLACE (2::BIGINT AS change_id, 7.5::DECIMAL(18, 4) AS price, observed_at + INTERVAL 1 HOUR AS observed_at) FROM history',
    });
    const change = { table: 'history' as const, add, remove: [], applied: {} };
    await commitTable(lake, change, { runId: 'r2', operation: 'WRITE', at: new Date() });
  });
  await writeFile(join(folder(), 'under-way.part'), '');
  expect((await readSpells()).events).toEqual(['price_spells.preparing']);
  const later = await readdir(folder());
  expect(later.filter((name) => files.includes(name))).toEqual([]);
  expect(later).toContain('under-way.part');
});

it('the price spells of few changes are not kept', async () => {
  expect(await readSpells(1_000n)).toMatchObject({ events: [], isKept: false });
});

it('in a read-only lake, price spells are kept only until the command ends', async () => {
  await rm(folder(), { recursive: true });
  await writeFile(folder(), 'no folder');
  const found = await readSpells();
  expect(found).toMatchObject({ events: ['price_spells.preparing'], isKept: true });
  expect(found.folder.startsWith(path)).toBe(false);
  await rm(folder());
});
