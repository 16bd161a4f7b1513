import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishSwap, rebuildPath, swapLake } from '../../src/lake/swap-lake.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import type { TableName } from '../../src/tables/table.js';
import { makeBareLake } from './log-writer.js';

async function fill(lake: Lake, tables: TableName[], text: string): Promise<void> {
  for (const table of tables) {
    await mkdir(tablePath(lake, table, '_delta_log'), { recursive: true });
    await writeFile(tablePath(lake, table, '_delta_log', '0.json'), text);
  }
  for (const name of ['lake.json', 'catalog.sql', 'ATTRIBUTION.md']) await writeFile(join(lake.root, name), text);
}

/** A lake with `items` and `history`, and a rebuilt one with `items` and `sites`. */
async function makeRebuilt(): Promise<Lake> {
  const lake = await makeBareLake();
  await fill(lake, ['items', 'history'], 'old');
  await mkdir(rebuildPath(lake), { recursive: true });
  await fill({ root: rebuildPath(lake) }, ['items', 'sites'], 'new');
  return lake;
}

const writeOrder = (lake: Lake) =>
  writeFile(privatePath(lake, 'swap.json'), JSON.stringify({ tables: ['items', 'sites'] }));

async function expectNew(lake: Lake): Promise<void> {
  expect((await readdir(lake.root)).sort()).toEqual(
    ['ATTRIBUTION.md', '_pricelake', 'catalog.sql', 'items', 'lake.json', 'sites'].sort(),
  );
  for (const table of ['items', 'sites'] as const) {
    expect(await readFile(tablePath(lake, table, '_delta_log', '0.json'), 'utf8')).toBe('new');
  }
  for (const name of ['lake.json', 'catalog.sql', 'ATTRIBUTION.md']) {
    expect(await readFile(join(lake.root, name), 'utf8')).toBe('new');
  }
  expect(await readdir(privatePath(lake))).toEqual(['tmp']);
}

test('a rebuilt lake replaces the old one, including tables that only the old one has', async () => {
  const lake = await makeRebuilt();
  await swapLake(lake);
  await expectNew(lake);
  expect(await finishSwap(lake)).toBe(false);
  await expectNew(lake);
});

test('without a swap order nothing is swapped, even if the rebuilt lake looks complete', async () => {
  const lake = await makeRebuilt();
  expect(await finishSwap(lake)).toBe(false);
  expect(await readFile(tablePath(lake, 'items', '_delta_log', '0.json'), 'utf8')).toBe('old');
  expect((await readdir(rebuildPath(lake))).sort()).toContain('sites');
});

const aside = async (lake: Lake, table: TableName) => {
  await mkdir(privatePath(lake, 'replaced'), { recursive: true });
  await rename(tablePath(lake, table), privatePath(lake, 'replaced', table));
};
const place = (lake: Lake, name: string) => rename(join(rebuildPath(lake), name), join(lake.root, name));

test.each<[string, (lake: Lake) => Promise<void>]>([
  ['before the first table', async () => {}],
  ['between a table that goes and the one that comes', (lake) => aside(lake, 'items')],
  [
    'after a table, beside what an earlier swap left of it',
    async (lake) => {
      await aside(lake, 'items');
      await place(lake, 'items');
      await fill({ root: privatePath(lake, 'replaced') }, ['history'], 'older');
    },
  ],
  [
    'after the tables',
    async (lake) => {
      for (const table of ['items', 'history'] as const) await aside(lake, table);
      for (const table of ['items', 'sites'] as const) await place(lake, table);
    },
  ],
  [
    'between two of the published files',
    async (lake) => {
      for (const table of ['items', 'history'] as const) await aside(lake, table);
      for (const name of ['items', 'sites', 'ATTRIBUTION.md', 'catalog.sql']) await place(lake, name);
    },
  ],
])('a swap interrupted %s is finished', async (_where, crash) => {
  const lake = await makeRebuilt();
  await writeOrder(lake);
  await crash(lake);
  expect(await finishSwap(lake)).toBe(true);
  await expectNew(lake);
});

test('a failed swap keeps its order with the list of new tables, and the next attempt finishes it', async () => {
  const lake = await makeRebuilt();
  await rm(privatePath(lake, 'tmp'), { recursive: true });
  await writeFile(privatePath(lake, 'replaced'), 'no folder');
  await expect(swapLake(lake)).rejects.toThrow();
  expect(JSON.parse(await readFile(privatePath(lake, 'swap.json'), 'utf8'))).toEqual({ tables: ['items', 'sites'] });
  await rm(privatePath(lake, 'replaced'));
  expect(await finishSwap(lake)).toBe(true);
  await expectNew(lake);
});

test('an order of a newer version stops the swap, and a garbage order removes no table', async () => {
  const lake = await makeRebuilt();
  await writeFile(privatePath(lake, 'swap.json'), '{"tables":["items"],"more":1}');
  await expect(finishSwap(lake)).rejects.toMatchObject({ code: 'lake_invalid' });
  expect(await readFile(tablePath(lake, 'items', '_delta_log', '0.json'), 'utf8')).toBe('old');
  await writeFile(privatePath(lake, 'swap.json'), '');
  expect(await finishSwap(lake)).toBe(true);
  expect(await readFile(tablePath(lake, 'items', '_delta_log', '0.json'), 'utf8')).toBe('new');
});
