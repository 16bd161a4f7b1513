import { expect, test } from 'vitest';
import { makeSqlLake } from '../../bench/sql-lake.js';
import { readJsonLine, runHere } from '../cli/pricelake.js';
import { makeFolder } from '../journal/folder.js';

test('the generated lake for timing analyses has comparable offers and a year of prices', async () => {
  const lake = await makeFolder();
  await makeSqlLake(lake, { items: 400, changes: 1400 });
  const query = async (...words: string[]) => {
    const answer = await runHere(['query', '--lake', lake, ...words, '--json']);
    return readJsonLine(answer) as { rows: Record<string, unknown>[] };
  };
  const { rows } = await query('SELECT count(*) > 30 AS compares FROM price_spread WHERE offers > 1');
  expect(rows).toEqual([{ compares: true }]);
  const index = await query('--analysis', 'price_index', '--set', 'by=all', '--set', 'currency=EUR');
  expect(index.rows.length).toBeGreaterThan(11);
});
