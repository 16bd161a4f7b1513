import path from 'node:path';
import { expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { Shipments } from '../../src/sql/shipment.js';
import { code, type Sql, sql } from '../../src/sql/sql.js';
import { makeFolder } from '../journal/folder.js';

/** Rows and types of SQL, here and in a database that only has what was shipped. */
async function readTwice(make: (graph: RelationGraph) => Sql) {
  const [here, there] = [await Database.open(), await Database.open()];
  try {
    const graph = new RelationGraph(here);
    const select = make(graph);
    const shipments = new Shipments(graph, path.join(await makeFolder(), 'shipped'));
    for (const statement of await shipments.ship(select)) await there.run(statement);
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

test('a type that would not come back as it is, is refused', async () => {
  const shipped = readTwice((graph) => sql`FROM ${graph.table('odd', code("SELECT {'a': 1} AS s"))}`);
  await expect(shipped).rejects.toThrow("a column of type STRUCT(a INTEGER) can't be shipped");
});
