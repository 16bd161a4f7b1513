import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { followItems } from '../../src/lake/follow-items.js';
import { tablePath } from '../../src/lake/layout.js';
import { readTable } from '../../src/lake/read.js';
import type { TableName } from '../../src/tables/table.js';
import { AT } from './fixture.js';
import { makeBareLake } from './log-writer.js';

test('tables made from a version of items name the one that has the same rows; others stay as they are', async () => {
  const lake = await makeBareLake();
  const madeFrom = new Map<TableName, bigint>([
    ['products', 4n],
    ['product_prices', 3n],
    ['price_spread', 4n],
  ]);
  for (const [table, itemsVersion] of madeFrom) {
    const change = { table, add: [], remove: [], applied: { itemsVersion } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: AT });
  }
  await followItems(lake, { before: 4n, after: 5n }, { runId: 'flatten', at: AT });
  const states = await Promise.all([...madeFrom.keys()].map((table) => readTable(lake, table)));
  expect(states.map(({ applied, version }) => [applied.itemsVersion, version])).toEqual([
    [5n, 1n],
    [3n, 0n],
    [5n, 1n],
  ]);
  const entry = await readFile(tablePath(lake, 'products', '_delta_log', '00000000000000000001.json'), 'utf8');
  expect(entry).toContain('"operation":"OPTIMIZE"');
  expect(entry).toContain('"runId":"flatten"');
});
