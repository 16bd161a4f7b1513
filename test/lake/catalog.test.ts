import { expect, test } from 'vitest';
import { writeCatalog } from '../../src/lake/catalog.js';
import { readAnalysis } from '../../src/sql/model.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { TableState } from '../../src/tables/table.js';

const file = (path: string) => ({ path, partitionValues: {} });
const state = (table: string, more: object) => ({ table, files: [], ...more }) as unknown as TableState;

test('the catalogue has a view a table, each file on a line of its own, and one of price spells', () => {
  const text = writeCatalog([
    state('items', { files: [file('a.parquet'), file('site_id=1/b.parquet')], hasOlderFiles: false }),
    state('sites', {}),
  ]);
  const [header = '', ...views] = text.split('\n\n');
  expect(header.split('\n').every((line) => line.startsWith('--'))).toBe(true);
  expect(header).toContain('--   cd lake && duckdb -init catalog.sql');
  expect(views[0]).toBe(`-- ${loadTableSchema('items').description}
CREATE OR REPLACE VIEW "items" AS SELECT * FROM read_parquet(['items/a.parquet',
  'items/site_id=1/b.parquet'], hive_partitioning = false);`);
  expect(views[1]).toMatch(/^-- .*\nCREATE OR REPLACE VIEW "sites" AS SELECT \* FROM \(SELECT CAST\(NULL AS BIGINT\)/);
  expect(text.endsWith(`\nCREATE OR REPLACE VIEW price_spells AS\n${readAnalysis('price_spells').trim()};\n`)).toBe(
    true,
  );
});

test('a table with files that lack some of its columns is read by its contract', () => {
  const read = (hasOlderFiles: boolean) =>
    writeCatalog([state('items', { files: [file('a.parquet')], hasOlderFiles })]).includes('default_value: NULL');
  expect([read(true), read(false)]).toEqual([true, false]);
});
