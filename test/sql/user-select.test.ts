import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { prepareUserSelect, REFUSED_SCALARS, TABLE_FUNCTIONS } from '../../src/sql/user-select.js';

const folder = await mkdtemp(join(tmpdir(), 'pricelake-user-select-'));
const db = await Database.open();
await db.run('CREATE TABLE items AS SELECT 1 AS id');
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

const prepare = (sql: string, reach: 'tables' | 'files' = 'files') => prepareUserSelect(db.connection, sql, reach);
const named = async (condition: string) =>
  (
    await db.rows(
      `SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions() WHERE ${condition} ORDER BY name`,
    )
  ).map(({ name }) => String(name));

/** They change nothing, although DuckDB says that calls differ. */
const HARMLESS = [
  ...['random', 'uuid', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'error', 'stats', 'currval'],
  ...['current_connection_id', 'current_query', 'current_query_id', 'current_transaction_id'],
];

describe('functions of DuckDB', () => {
  it('that make tables are refused by name, except those of the list', async () => {
    const names = await named("function_type IN ('table', 'table_macro')");
    expect(names.length).toBeGreaterThan(80);
    for (const name of names.filter((one) => !TABLE_FUNCTIONS.files.has(one))) {
      for (const sql of [
        `FROM ${name}()`,
        `FROM "${name}"()`,
        `FROM system.main.${name}(1)`,
        `EXPLAIN FROM ${name}()`,
      ]) {
        await expect(prepare(sql), sql).rejects.toThrow(`${name}() is not allowed here`);
      }
    }
    for (const name of [...TABLE_FUNCTIONS.files]) expect(names).toContain(name);
  });

  it('that are pragmas cannot be called by a SELECT', async () => {
    for (const name of await named("function_type = 'pragma'")) {
      for (const sql of [`PRAGMA ${name}`, `CALL ${name}()`, `CALL pragma_${name}()`]) {
        await expect(prepare(sql), sql).rejects.toThrow(/is not allowed|Parser Error|statements/u);
      }
    }
  });

  it('with a side effect are refused, or known to be harmless', async () => {
    const effects = await named("has_side_effects AND function_type NOT IN ('table', 'table_macro', 'pragma')");
    expect(effects.filter((name) => !REFUSED_SCALARS.has(name))).toEqual([...HARMLESS].sort());
    const macros = await db.rows(
      "SELECT lower(function_name) AS name, macro_definition AS text FROM duckdb_functions() WHERE function_type = 'macro'",
    );
    const calling = macros.filter(({ text }) => [...REFUSED_SCALARS].some((name) => String(text).includes(`${name}(`)));
    expect(calling.filter(({ name }) => !REFUSED_SCALARS.has(String(name)))).toEqual([]);
    for (const name of REFUSED_SCALARS) {
      for (const sql of [
        `SELECT ${name}(1)`,
        `FROM items ORDER BY "${name}"(id)`,
        `SELECT list_transform([1], x -> ${name}(x))`,
      ]) {
        await expect(prepare(sql), sql).rejects.toThrow(`${name}() is not allowed here`);
      }
    }
  });
});

test.each([
  `SELECT * FROM enable_profiling(format='json', save_location='FOLDER/profile.json')`,
  `SELECT * FROM enable_logging(storage='file', storage_config={'path': 'FOLDER/logs'})`,
  `WITH x AS (FROM enable_logging(storage='file', storage_config={'path': 'FOLDER/logs'})) FROM x`,
  `SELECT (SELECT count(*) FROM enable_profiling(save_location='FOLDER/profile.json'))`,
  `DESCRIBE FROM enable_profiling(save_location='FOLDER/profile.json')`,
  `SUMMARIZE FROM enable_profiling(save_location='FOLDER/profile.json')`,
  `EXPLAIN ANALYZE FROM enable_profiling(save_location='FOLDER/profile.json')`,
  `PIVOT (FROM enable_profiling(save_location='FOLDER/profile.json')) ON x IN (1) USING count(*)`,
])('%s writes nothing', async (sql) => {
  await expect(prepare(sql.replaceAll('FOLDER', folder))).rejects.toThrow(/enable_\w+\(\) is not allowed here/u);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  'FROM items',
  'DESCRIBE items',
  'SHOW TABLES',
  'SUMMARIZE items',
  'EXPLAIN ANALYZE FROM items',
  'PIVOT items ON id IN (1) USING count(*)',
  'UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b',
  "SELECT random() < 2, uuid() IS NOT NULL, now() > DATE '2020-01-01', format('{}', 1), repeat('x', 3)",
  'SELECT [x + 1 FOR x IN [1]], row_number() OVER () FROM range(3)',
])('%s runs', async (sql) => {
  await expect((await prepare(sql)).runAndReadAll()).resolves.toBeDefined();
});
