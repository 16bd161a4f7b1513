import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../../src/sql/quote.js';
import { type RelationFile, tableRelation } from '../../src/sql/table-relation.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { ITEM, makeFolder, openDatabase, select } from '../lake/fixture.js';

type Values = Record<string, string | null>;

/** Writes a file of one item as another program does, without the columns that are only in the log. */
async function writeItem(db: Database, folder: string, id: number, without: readonly string[]): Promise<string> {
  const file = path.join(folder, 'items', `part-${id}.parquet`);
  await mkdir(path.dirname(file), { recursive: true });
  const columns = loadTableSchema('items').columns.filter(({ name }) => !without.includes(name));
  const rows = select('items', { ...ITEM, item_id: String(id), site_id: '77', category_slug: "'stored'" });
  await db.run(`COPY (SELECT ${columns.map(({ name }) => quoteIdentifier(name)).join(', ')} FROM (${rows}))
    TO ${quoteLiteral(file)} (FORMAT parquet)`);
  return file;
}

test('partition values in the log replace missing and existing columns, exactly and in their types', async () => {
  const [db, folder] = [await openDatabase(), await makeFolder('with [glob] *')];
  const logged: Values[] = [
    { site_id: '9007199254740993', category_slug: "it's, 'a', \"b\" \\ ü 🛒", first_seen_at: '2026-01-01 10:00:00.5' },
    { site_id: '', category_slug: null, first_seen_at: '2026-01-01T10:00:00.500001Z' },
    { site_id: null, category_slug: "x', 'y", first_seen_at: '2026-01-01 12:00:00+02' },
  ];
  const files: RelationFile[] = [];
  for (const [id, partitionValues] of logged.entries()) {
    const lacks = id === 1 ? [] : Object.keys(partitionValues);
    files.push({ path: await writeItem(db, folder, id, lacks), partitionValues });
  }
  files.push(await writeItem(db, folder, 3, []));
  const relation = tableRelation('items', files);
  const rows = await db.read(`SELECT item_id, site_id, category_slug, epoch_us(first_seen_at), currency
    FROM ${relation} ORDER BY item_id`);
  const at = (text: string) => BigInt(Date.parse(text)) * 1000n;
  expect(rows.getRows()).toEqual([
    [0n, 9007199254740993n, "it's, 'a', \"b\" \\ ü 🛒", at('2026-01-01T10:00:00.500Z'), 'EUR'],
    [1n, null, null, at('2026-01-01T10:00:00.500Z') + 1n, 'EUR'],
    [2n, null, "x', 'y", at('2026-01-01T10:00:00Z'), 'EUR'],
    [3n, 77n, 'stored', at('2026-01-01T00:00:00Z') + 1n, 'EUR'],
  ]);
  const described = await db.rows(`DESCRIBE SELECT * FROM ${relation}`);
  expect(described.map(({ column_name, column_type }) => [column_name, column_type])).toEqual(
    loadTableSchema('items').columns.map(({ name, type }) => [name, type]),
  );
  const named = tableRelation('items', files, { places: true });
  const places = await db.rows(`SELECT item_id, filename FROM ${named} ORDER BY item_id`);
  expect(places.map(({ filename }) => filename)).toEqual(
    files.map((file) => (typeof file === 'string' ? file : file.path)),
  );
});

test('files of hundreds of partitions are read with little memory', async () => {
  const db = await Database.open({ memoryLimit: '150MB', threads: 2 });
  onTestFinished(() => db.close());
  const folder = await makeFolder();
  const files: RelationFile[] = [];
  for (let id = 0; id < 200; id += 1)
    files.push({ path: await writeItem(db, folder, id, ['site_id']), partitionValues: { site_id: String(id) } });
  const relation = tableRelation('items', files);
  await db.run(`CREATE TABLE rows AS SELECT * FROM ${relation}`);
  const row = await db.row('SELECT count(*) AS n, count(*) FILTER (item_id = site_id) AS same FROM rows');
  expect(row).toEqual({ n: 200n, same: 200n });
});
