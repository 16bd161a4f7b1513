import { expect, test } from 'vitest';
import type { TableLoad } from '../../src/deliver/load-plan.js';
import { requireSchemaName } from '../../src/deliver/load-sql.js';
import { WAREHOUSES } from '../../src/deliver/names.js';
import { requireWarehouseBase, writeLoadScript } from '../../src/deliver/warehouses.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { BASES } from './copy.js';

const file = (path: string) => ({ path, rows: 1n, bytes: 1, partitionValues: {}, stats: '', modifiedAt: 0 });

/** A load with everything that could break its SQL: a hostile partition value, and quotes in a path and an id. */
const LOAD: TableLoad = {
  table: 'items',
  tableId: "it's",
  since: 41n,
  run: 9007199254740993n,
  columns: loadTableSchema('items').columns.filter(({ name }) =>
    ['item_id', 'title', 'datasets', 'site_id', 'run_id'].includes(name),
  ),
  rows: {
    kind: 'runs',
    runIds: ['000042-x'],
    partitions: [{ site_id: '12', category_slug: "a'); DROP TABLE items; --\\" }, { site_id: null }],
  },
  files: [file("site_id-12.it's.parquet")],
  total: 1n,
};

test('a script stages rows, changes the copy in one transaction that also records the run, and drops the stage', () => {
  const script = writeLoadScript('snowflake', [LOAD], { schema: 'shop.prices', base: '@stage' });
  expect(script.filter((sql) => !sql.startsWith('CREATE'))).toMatchInlineSnapshot(`
    [
      "COPY INTO "SHOP"."PRICES"."PRICELAKE_STAGE_ITEMS" FROM @stage FILES = ('items/site_id-12.it''s.parquet') FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE",
      "BEGIN",
      "DELETE FROM "SHOP"."PRICES"."ITEMS" WHERE EXISTS (SELECT 1 FROM "SHOP"."PRICES"."PRICELAKE_LOADS" WHERE "TABLE_NAME" = 'items' AND "TABLE_ID" = 'it''s' AND "RUN_NUMBER" = 41) AND ("RUN_ID" IN ('000042-x') OR "SITE_ID" = CAST('12' AS BIGINT) AND "CATEGORY_SLUG" = 'a''); DROP TABLE items; --\\\\' OR "SITE_ID" IS NULL)",
      "INSERT INTO "SHOP"."PRICES"."ITEMS" ("ITEM_ID", "TITLE", "DATASETS", "SITE_ID", "RUN_ID") SELECT "ITEM_ID", "TITLE", "DATASETS", "SITE_ID", "RUN_ID" FROM "SHOP"."PRICES"."PRICELAKE_STAGE_ITEMS" WHERE EXISTS (SELECT 1 FROM "SHOP"."PRICES"."PRICELAKE_LOADS" WHERE "TABLE_NAME" = 'items' AND "TABLE_ID" = 'it''s' AND "RUN_NUMBER" = 41) AND ("RUN_ID" IN ('000042-x') OR "SITE_ID" = CAST('12' AS BIGINT) AND "CATEGORY_SLUG" = 'a''); DROP TABLE items; --\\\\' OR "SITE_ID" IS NULL)",
      "UPDATE "SHOP"."PRICES"."PRICELAKE_LOADS" SET "RUN_NUMBER" = 9007199254740993, "LOADED_AT" = CURRENT_TIMESTAMP WHERE "TABLE_NAME" = 'items' AND "TABLE_ID" = 'it''s' AND "RUN_NUMBER" = 41",
      "COMMIT",
      "DROP TABLE IF EXISTS "SHOP"."PRICES"."PRICELAKE_STAGE_ITEMS"",
    ]
  `);
});

test('without multi-statement transactions, a script changes items in one MERGE statement', () => {
  const keys: TableLoad = { ...LOAD, rows: { kind: 'keys', key: 'item_id', runIds: ['000042-x'] } };
  const script = writeLoadScript('databricks', [keys], { schema: undefined, base: 's3://b/lake' });
  expect(script.filter((sql) => /^(MERGE|DELETE|INSERT|UPDATE|BEGIN|COPY)/.test(sql))).toMatchInlineSnapshot(`
    [
      "COPY INTO \`pricelake_stage_items\` FROM 's3://b/lake/items' FILEFORMAT = PARQUET FILES = ('site_id-12.it\\'s.parquet') COPY_OPTIONS ('force' = 'true')",
      "MERGE INTO \`items\` AS t USING (SELECT \`item_id\`, \`title\`, \`datasets\`, \`site_id\`, \`run_id\` FROM \`pricelake_stage_items\` WHERE EXISTS (SELECT 1 FROM \`pricelake_loads\` WHERE \`table_name\` = 'items' AND \`table_id\` = 'it\\'s' AND \`run_number\` = 41) AND (\`run_id\` IN ('000042-x'))) AS s ON t.\`item_id\` = s.\`item_id\`
    WHEN MATCHED THEN UPDATE SET \`item_id\` = s.\`item_id\`, \`title\` = s.\`title\`, \`datasets\` = s.\`datasets\`, \`site_id\` = s.\`site_id\`, \`run_id\` = s.\`run_id\`
    WHEN NOT MATCHED THEN INSERT (\`item_id\`, \`title\`, \`datasets\`, \`site_id\`, \`run_id\`) VALUES (s.\`item_id\`, s.\`title\`, s.\`datasets\`, s.\`site_id\`, s.\`run_id\`)",
      "UPDATE \`pricelake_loads\` SET \`run_number\` = 9007199254740993, \`loaded_at\` = CURRENT_TIMESTAMP WHERE \`table_name\` = 'items' AND \`table_id\` = 'it\\'s' AND \`run_number\` = 41",
    ]
  `);
});

test.each(WAREHOUSES)(
  'the staging table for %s allows null in every column, because files may contain it',
  (warehouse) => {
    const script = writeLoadScript(warehouse, [LOAD], { schema: undefined, base: BASES[warehouse] });
    const stages = script.filter((sql) => /^CREATE .*pricelake_stage_items/i.test(sql));
    expect(stages).toHaveLength(warehouse === 'postgres' ? 0 : 1);
    for (const sql of stages) {
      expect(sql).toMatch(/\(.*item_id.*title.*run_id.*\)$/i);
      expect(sql).not.toMatch(/NOT NULL|\bLIKE\b/);
    }
  },
);

test.each(WAREHOUSES)('no value leaves its quotes in the script for %s', (warehouse) => {
  const sql = writeLoadScript(warehouse, [LOAD], { schema: undefined, base: BASES[warehouse] }).join(';\n');
  // Without quoted texts and names, no part of the value may remain; in PostgreSQL texts, a backslash is not an escape.
  const texts =
    warehouse === 'postgres'
      ? /'(?:[^']|'')*'|"(?:[^"]|"")*"/gsu
      : /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`/gsu;
  const bare = sql.replaceAll(texts, '?');
  expect(bare).not.toMatch(/DROP TABLE items|--/);
});

test('schema names and base addresses are validated before they are used in SQL', () => {
  for (const schema of ['a"b', 'a.b.c', "x'; DROP", '', '1a']) {
    expect(() => requireSchemaName(schema), schema).toThrow(expect.objectContaining({ code: 'usage' }));
  }
  requireSchemaName('my-project.prices');
  for (const base of ["s3://b/'; DROP", 'gs://b', undefined, 's3://b/a b']) {
    expect(() => requireWarehouseBase('redshift', base), base).toThrow(expect.objectContaining({ code: 'usage' }));
  }
  expect(requireWarehouseBase('redshift', 's3://b/lake/')).toBe('s3://b/lake');
});
