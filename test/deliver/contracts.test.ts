import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toArrowField } from '../../src/cli/output/arrow.js';
import { writeArrowSchema } from '../../src/deliver/arrow-schema.js';
import { describeJson, describeSparkSchema } from '../../src/deliver/json-schema.js';
import { SQL_DIALECTS, writeSql } from '../../src/deliver/sql-dialects.js';
import { writeDeltaSchema } from '../../src/lake/column-difference.js';
import { Database } from '../../src/sql/connection.js';
import { writeEmptySelect } from '../../src/sql/table-relation.js';
import { COLUMN_TYPES, loadTableSchema, type TableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
});
afterAll(() => db.close());

/** A table with a column of every type; the first column is the key, and the table is partitioned by day. */
const every: TableSchema = {
  table: 'items',
  description: 'It\'s "all"',
  key: ['c0'],
  partitionBy: ['c0', 'c4'],
  source: 'test',
  columns: COLUMN_TYPES.map((type, i) => ({ name: `c${i}`, type, nullable: i > 0, description: `d\\${i}` })),
};

/** Writes the DDL without the comments of most columns. */
const writeShort = (dialect: 'postgres' | 'redshift') =>
  writeSql(every, SQL_DIALECTS[dialect]).replaceAll(/COMMENT ON COLUMN "items"."c[2-7]".*\n/g, '');

describe('the data contract as DDL', () => {
  it.each(TABLE_NAMES)('of %s creates the table in DuckDB with its descriptions', async (table) => {
    const schema = loadTableSchema(table);
    for (const statement of writeSql(schema, SQL_DIALECTS.ddl).split(';\n')) {
      if (statement.trim() !== '') await db.run(statement);
    }
    const columns = await db.rows(
      'SELECT column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE table_name = $1 ORDER BY column_index',
      [table],
    );
    expect(columns).toEqual(
      schema.columns.map(({ name, type, nullable, description }) => ({
        column_name: name,
        data_type: type,
        is_nullable: nullable,
        comment: description,
      })),
    );
  });

  it("uses PostgreSQL's types", () => {
    expect(writeShort('postgres')).toMatchInlineSnapshot(`
      "CREATE TABLE "items" (
        "c0" bigint NOT NULL,
        "c1" text,
        "c2" numeric(18,4),
        "c3" timestamp with time zone,
        "c4" date,
        "c5" boolean,
        "c6" double precision,
        "c7" text[],
        PRIMARY KEY ("c0")
      );
      COMMENT ON TABLE "items" IS 'It''s "all"';
      COMMENT ON COLUMN "items"."c0" IS 'd\\0';
      COMMENT ON COLUMN "items"."c1" IS 'd\\1';
      "
    `);
  });

  it("uses Snowflake's types", () => {
    expect(writeSql(every, SQL_DIALECTS.snowflake)).toMatchInlineSnapshot(`
      "CREATE TABLE "ITEMS" (
        "C0" BIGINT NOT NULL COMMENT 'd\\\\0',
        "C1" VARCHAR COMMENT 'd\\\\1',
        "C2" NUMBER(18,4) COMMENT 'd\\\\2',
        "C3" TIMESTAMP_TZ(6) COMMENT 'd\\\\3',
        "C4" DATE COMMENT 'd\\\\4',
        "C5" BOOLEAN COMMENT 'd\\\\5',
        "C6" DOUBLE COMMENT 'd\\\\6',
        "C7" ARRAY COMMENT 'd\\\\7',
        PRIMARY KEY ("C0") NOT ENFORCED
      ) CLUSTER BY ("C0", "C4") COMMENT = 'It''s "all"';
      "
    `);
  });

  it("uses Redshift's types", () => {
    expect(writeShort('redshift')).toMatchInlineSnapshot(`
      "CREATE TABLE "items" (
        "c0" BIGINT NOT NULL,
        "c1" VARCHAR(MAX),
        "c2" DECIMAL(18,4),
        "c3" TIMESTAMPTZ,
        "c4" DATE,
        "c5" BOOLEAN,
        "c6" DOUBLE PRECISION,
        "c7" SUPER,
        PRIMARY KEY ("c0")
      ) SORTKEY ("c0", "c4");
      COMMENT ON TABLE "items" IS 'It''s "all"';
      COMMENT ON COLUMN "items"."c0" IS 'd\\\\0';
      COMMENT ON COLUMN "items"."c1" IS 'd\\\\1';
      "
    `);
  });

  it("uses BigQuery's types", () => {
    expect(writeSql(every, SQL_DIALECTS.bigquery)).toMatchInlineSnapshot(`
      "CREATE TABLE \`items\` (
        \`c0\` INT64 NOT NULL OPTIONS (description = "d\\\\0"),
        \`c1\` STRING OPTIONS (description = "d\\\\1"),
        \`c2\` NUMERIC(18,4) OPTIONS (description = "d\\\\2"),
        \`c3\` TIMESTAMP OPTIONS (description = "d\\\\3"),
        \`c4\` DATE OPTIONS (description = "d\\\\4"),
        \`c5\` BOOL OPTIONS (description = "d\\\\5"),
        \`c6\` FLOAT64 OPTIONS (description = "d\\\\6"),
        \`c7\` ARRAY<STRING> OPTIONS (description = "d\\\\7"),
        PRIMARY KEY (\`c0\`) NOT ENFORCED
      )
      PARTITION BY \`c4\`
      CLUSTER BY \`c0\`
      OPTIONS (description = "It's \\"all\\"");
      "
    `);
  });

  it('declares no primary key if a key column may be null', () => {
    const open = { ...every, key: ['c0', 'c1'] };
    for (const dialect of Object.values(SQL_DIALECTS)) expect(writeSql(open, dialect)).not.toContain('PRIMARY KEY');
  });
});

describe('the data contract in other formats', () => {
  it('as JSON Schema accepts the rows as written and refuses invalid ones', () => {
    const schema = describeJson([every], true);
    const text = JSON.stringify(schema, (_name, value) => (typeof value === 'bigint' ? Number(value) : value));
    const row = z.fromJSONSchema(JSON.parse(text));
    const values = [7, 'a', 12.3456, '2026-11-20T09:00:00.123456Z', '2026-11-20', true, 0.1, ['a', null]];
    const good = Object.fromEntries(values.map((value, i) => [`c${i}`, value]));
    expect(row.safeParse(good).error).toBeUndefined();
    const nulls = Object.fromEntries(Object.keys(good).map((name) => [name, null]));
    expect(row.safeParse({ ...nulls, c0: 7 }).error).toBeUndefined();
    for (const wrong of [{ c0: null }, { c0: 1.5 }, { c3: 'monday' }, { c7: [1] }, { c8: 1 }]) {
      expect(row.safeParse({ ...good, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
    }
    expect(Object.keys(describeJson(TABLE_NAMES.map(loadTableSchema), false).$defs as object)).toEqual([
      ...TABLE_NAMES,
    ]);
  });

  it.each(TABLE_NAMES)('as an Arrow schema of %s equals the schema of a query result', async (table) => {
    const schema = loadTableSchema(table);
    const arrow = tableFromIPC(writeArrowSchema(schema)).schema;
    const result = await db.connection.run(writeEmptySelect(table));
    const types = result.columnTypes();
    const given = result.columnNames().map((name, i) => {
      const type = types[i];
      return type === undefined ? '' : `${name} ${toArrowField(name, type).type}`;
    });
    expect(arrow.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(given);
    expect(arrow.fields.map(({ nullable }) => nullable)).toEqual(schema.columns.map(({ nullable }) => nullable));
    expect(arrow.metadata.get('key')).toBe(JSON.stringify(schema.key));
  });

  it.each(TABLE_NAMES)('as a Spark struct of %s equals the schema in the Delta log', (table) => {
    const schema = loadTableSchema(table);
    const delta = JSON.parse(writeDeltaSchema(schema));
    const spark = describeSparkSchema(schema);
    expect(spark.fields.map((field) => ({ ...field, nullable: true }))).toEqual(delta.fields);
    expect(spark.fields.map(({ nullable }) => nullable)).toEqual(schema.columns.map(({ nullable }) => nullable));
  });
});
