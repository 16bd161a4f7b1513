import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { escapeGlob } from '../../src/sql/quote.js';
import { lockDown, prepareSelect } from '../../src/sql/read-only-sql.js';

const folder = await mkdtemp(join(tmpdir(), 'locked [1]*?-'));
await mkdir(join(folder, 'items'));
await writeFile(join(folder, 'private.csv'), 'secret\n1\n');
const db = await Database.open();
await db.run(`COPY (SELECT 1 AS id) TO '${folder}/items/a.parquet'`);
await db.run(`CREATE TEMP VIEW items AS SELECT * FROM read_parquet(['${escapeGlob(folder)}/items/a.parquet'])`);
await lockDown(db, [join(folder, 'items')]);
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

async function query(sql: string) {
  const statement = await prepareSelect(db.connection, sql.replaceAll('FOLDER', folder));
  return (await statement.runAndReadAll()).getRows();
}

describe('SQL of others', () => {
  it.each([
    'SELECT id FROM items',
    'FROM items',
    '-- a comment\nSELECT 1',
    '/* a */ (SELECT 1)',
    'DESCRIBE items',
    'SUMMARIZE items',
    'EXPLAIN SELECT 1',
    'WITH x AS (FROM items) SELECT * FROM x',
    'EXPLAIN ANALYZE FROM items;',
  ])('reads the tables: %s', async (sql) => {
    expect(await query(sql)).toHaveLength(1);
  });

  it.each([
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('FOLDER/private.csv')",
    "SELECT * FROM read_text('FOLDER/items/../private.csv')",
    "SELECT * FROM 'FOLDER/private.csv'",
    "SELECT * FROM glob('FOLDER/*')",
    "SELECT * FROM query('FROM read_text(''/etc/passwd'')')",
    "COPY items TO '/tmp/pricelake-refused.csv'",
    "COPY items TO 'FOLDER/items/b.parquet'",
    "EXPLAIN ANALYZE COPY items TO 'FOLDER/items/b.parquet'",
    "EXPLAIN (ANALYZE) COPY items TO 'FOLDER/items/b.parquet'",
    "ATTACH 'FOLDER/items/b.db'",
    "EXPORT DATABASE 'FOLDER/items/export'",
    'INSTALL httpfs',
    "LOAD 'FOLDER/items/x.duckdb_extension'",
    'SET enable_external_access = true',
    'RESET enable_external_access',
    'CREATE TABLE x AS SELECT 1',
    'DROP VIEW items',
    'INSERT INTO items VALUES (2)',
    "/* a */ EXPORT DATABASE 'FOLDER/items/export'",
    "EXPLAIN EXPORT DATABASE 'FOLDER/items/export'",
    'WITH x AS (SELECT 2) INSERT INTO items FROM x',
    'PRAGMA disable_object_cache',
    'CHECKPOINT',
    'SELECT 1; SELECT 2',
    '',
    '/* nothing */ ;',
  ])('cannot reach beyond them, write or change settings: %s', async (sql) => {
    await expect(query(sql)).rejects.toThrow(
      /Permission Error|Parser Error|not allowed|only one SELECT|contains no statement|not an? table|Catalog Error/u,
    );
    expect(await readdir(join(folder, 'items'))).toEqual(['a.parquet']);
  });
});
