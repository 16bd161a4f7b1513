import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { Shipments, sqlOf } from '../../src/sql/shipment.js';
import { code, readFiles, type Sql, sql } from '../../src/sql/sql.js';
import { TaskPaths } from '../../src/workers/task-paths.js';
import { makeFolder } from '../journal/folder.js';

/** Rows and types of SQL, here and in a database that only has what was shipped. */
async function readTwice(make: (graph: RelationGraph) => Sql) {
  const [here, there] = [await Database.open(), await Database.open()];
  try {
    const graph = new RelationGraph(here);
    const select = make(graph);
    const shipments = new Shipments(graph, path.join(await makeFolder(), 'shipped'));
    for (const statement of await shipments.ship(select)) await there.run(statement.text);
    const read = async (db: Database) => {
      const result = await db.read(select.text);
      return [result.columnTypes().map(String), result.getRows().map((row) => row.map(String))];
    };
    return [await read(here), await read(there)] as const;
  } finally {
    await here.close();
    await there.close();
  }
}

test('views of views over tables have the same rows in another database', async () => {
  const [here, there] = await readTwice((graph) => {
    const table = graph.table('kept', code("SELECT i AS a, 'x' || i AS b FROM range(5) AS t(i)"));
    const one = graph.view('one', sql`SELECT a, b FROM ${table} WHERE a > 1`);
    const two = graph.view('two', sql`SELECT * FROM ${one} JOIN ${table} USING (a)`);
    return sql`SELECT * FROM ${two} UNION ALL SELECT a, b, b FROM ${one} ORDER BY ALL`;
  });
  expect(here[1]).toHaveLength(6);
  expect(there).toEqual(here);
});

test('values of every kind that a run has keep type and value', async () => {
  const [here, there] = await readTwice(
    (graph) =>
      sql`FROM ${graph.table(
        'values',
        code(`SELECT 170141183460469231731687303715884105727::HUGEINT AS h, INTERVAL '1 month 2 days 0.000003 seconds' AS i,
        99999999999999.9999::DECIMAL(18,4) AS d, [NULL, 'a'] AS l, TIMESTAMPTZ '0001-01-01 00:30:00.000001+00' AS t,
        DATE '2026-02-28' AS day, -0.0::DOUBLE AS z, 'nan'::DOUBLE AS n, chr(65279) || 'b' || chr(0) AS s, NULL AS nothing,
        true AS b, 7::UTINYINT AS u`),
      )}`,
  );
  expect(here[0]).toContain('HUGEINT');
  expect(there).toEqual(here);
});

test('where the files are elsewhere, the rows are the same, and so are the names of their files', async () => {
  const [home, root] = [path.join(await makeFolder(), "here's [it]"), path.join(await makeFolder(), 'there')];
  await mkdir(path.join(home, 'a'), { recursive: true });
  const [here, there] = [await Database.open(), await Database.open()];
  try {
    const file = path.join(home, 'a', 'rows.parquet');
    await here.run(
      `COPY (SELECT i, '${home.replaceAll("'", "''")}/a' AS text FROM range(3) AS t(i)) TO ${quoteLiteral(file)}`,
    );
    const graph = new RelationGraph(here);
    const rows = graph.view(
      'rows',
      sql`SELECT * FROM ${readFiles('read_parquet', [file], ['file_row_number = true'], { hasNames: true })}`,
    );
    const select = sql`SELECT *, text = ${path.join(home, 'a')} AS is_same FROM ${rows} WHERE filename = ${file} ORDER BY i`;
    const shipped = [...(await new Shipments(graph, path.join(home, 'shipped')).ship(select)), select];
    const sent = new TaskPaths({ home, root: home });
    const texts = JSON.stringify(shipped.map((one) => z.encode(sqlOf(sent), one)));
    expect([...sent.files]).toEqual([file]);
    await rename(home, root);
    const came = new TaskPaths({ home, root });
    const statements = (JSON.parse(texts) as never[]).map((one) => z.decode(sqlOf(came), one));
    expect([...came.files]).toEqual([path.join(root, 'a', 'rows.parquet')]);
    for (const { text } of statements.slice(0, -1)) await there.run(text);
    const found = await there.rows(statements.at(-1)?.text ?? '');
    expect(found.map(({ i, filename, is_same }) => [i, filename, is_same])).toEqual(
      [0n, 1n, 2n].map((i) => [i, file, true]),
    );
  } finally {
    await here.close();
    await there.close();
  }
});

test('a type that would not come back as it is, is refused', async () => {
  const shipped = readTwice((graph) => sql`FROM ${graph.table('odd', code("SELECT {'a': 1} AS s"))}`);
  await expect(shipped).rejects.toThrow("a column of type STRUCT(a INTEGER) can't be shipped");
});
