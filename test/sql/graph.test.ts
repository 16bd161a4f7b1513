import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { FEW_ROWS, RelationGraph } from '../../src/sql/graph.js';
import { bindQuery } from '../../src/sql/model.js';
import { code, sql, writeTyped } from '../../src/sql/sql.js';
import { loadTableSchema } from '../../src/tables/schemas.js';

let db: Database;
let graph: RelationGraph;
beforeEach(async () => {
  db = await Database.open({ threads: 1, sessions: 3 });
  graph = new RelationGraph(db);
});
afterEach(() => db.close());

const ids = async (select: ReturnType<typeof sql>) =>
  (await graph.rows(sql`${select} ORDER BY id`)).map(({ id }) => id);

test('a relation is made after those that it reads, without anyone waiting for them', async () => {
  const first = graph.table('first', code('SELECT range AS id FROM range(1000000)'));
  const second = graph.view('second', sql`SELECT id FROM ${first} WHERE id % 2 = 0`);
  const third = graph.table('third', sql`SELECT max(id) AS id FROM ${second}`);
  expect(await ids(sql`FROM ${third}`)).toEqual([999_998n]);
});

test('two relations of one label are two, and each keeps its rows', async () => {
  const [before, after] = [graph.table('items', code('SELECT 1 AS id')), graph.table('items', code('SELECT 2 AS id'))];
  expect([await ids(sql`FROM ${before}`), await ids(sql`FROM ${after}`)]).toEqual([[1], [2]]);
});

test('whoever reads a relation that can not be made gets its error, however far it is away', async () => {
  const broken = graph.table('broken', code('SELECT nothing'));
  const behind = graph.view('behind', sql`FROM ${broken}`);
  await expect(graph.count(behind)).rejects.toThrow('nothing');
});

test('few rows are kept, more stay where they come from', async () => {
  const select = code('SELECT 1 AS id');
  const few = graph.rowsOf('few', select, FEW_ROWS);
  const many = graph.rowsOf('many', select, FEW_ROWS + 1n);
  await Promise.all([few.made, many.made]);
  const tables = await db.rows('SELECT table_name AS name FROM duckdb_tables()');
  expect(tables).toEqual([{ name: few.name }]);
});

describe('a query that finds its tables by name', () => {
  test('reads the relations that it is given, also where it has a name of its own for their rows', async () => {
    const items = graph.table('items', code('SELECT unnest([1, 2, 3]) AS id'));
    const query = 'WITH items AS (SELECT * FROM items WHERE id > 1), a AS (FROM items) SELECT id FROM a';
    expect(await ids(bindQuery(query, { items }))).toEqual([2, 3]);
    expect(await ids(bindQuery('SELECT id FROM items -- all', { items: sql`FROM ${items} WHERE id < 2` }))).toEqual([
      1,
    ]);
  });

  test('has values in place of its variables, exact and of their types', async () => {
    const query = "SELECT getvariable('id') AS id, getvariable('names') AS names, getvariable('other') AS other";
    const values = {
      id: writeTyped('BIGINT', 9_007_199_254_740_993n),
      names: writeTyped('VARCHAR[]', ["it's", 'a\0b', '; DROP TABLE x --']),
    };
    const row = await graph.row(
      sql`SELECT id, to_json(names) AS names, other IS NULL AS unset FROM (${bindQuery(query, {}, values)})`,
    );
    expect(row).toEqual({
      id: 9_007_199_254_740_993n,
      names: JSON.stringify(["it's", 'a\0b', '; DROP TABLE x --']),
      unset: true,
    });
  });
});

describe('rows that JavaScript has', () => {
  test('get the columns and types of their table, values exact, what is missing null', async () => {
    const run = {
      run_number: 9223372036854775807n,
      run_id: "it's; DROP TABLE runs --",
      seconds: 0.1,
      caught_up: false,
    };
    const rows = graph.load('next runs"', 'runs', [
      { ...run, started_at: '2026-11-20T06:00:00.123Z', cursor_from: null },
    ]);
    const described = await graph.rows(sql`DESCRIBE FROM ${rows}`);
    expect(described.map((column) => [column.column_name, column.column_type])).toEqual(
      loadTableSchema('runs').columns.map((column) => [column.name, column.type]),
    );
    const at = '2026-11-20 06:00:00.123+00';
    expect(await graph.row(sql`SELECT *, CAST(started_at AS VARCHAR) AS at FROM ${rows}`)).toMatchObject({
      ...{ ...run, at, cursor_from: null, pipeline: null },
    });
  });

  test('come in order of their columns and all, however many', async () => {
    const runs = Array.from({ length: 250 }, (_, n) => ({
      run_number: n,
      run_id: `r${n}`,
      mode: n % 7 ? 'feed' : null,
    }));
    const rows = graph.load('next_runs', 'runs', runs);
    const read = sql`SELECT CAST(run_number AS INTEGER) AS run_number, run_id, mode FROM ${rows} ORDER BY 1`;
    expect(await graph.rows(read)).toEqual(runs);
  });

  test('may hold any text, and there may be none', async () => {
    const texts = ['"', '\\u0041', 'a\0b', '\u{feff}mark', 'line\nline', '🛒', '', 'null', 'half \u{d83d}'];
    const rows = graph.load(
      'texts',
      'runs',
      texts.map((text, run_number) => ({ run_number, pipeline: text })),
    );
    const read = await graph.rows(sql`SELECT pipeline FROM ${rows} ORDER BY run_number`);
    expect(read.map(({ pipeline }) => pipeline)).toEqual([...texts.slice(0, -1), 'half \u{fffd}']);
    expect(await graph.count(graph.load('none', 'runs', []))).toBe(0n);
  });

  test('that do not fit their column are refused', async () => {
    await expect(graph.load('next_runs', 'runs', [{ started_at: 'soon' }]).made).rejects.toThrow(/Conversion/);
  });
});

test('a text in a gap is a value, never SQL', async () => {
  const items = graph.load('items', 'items', [{ item_id: 1n, title: "x' OR true --" }]);
  expect(await graph.count(sql`FROM ${items} WHERE title = ${"x' OR true --"}`)).toBe(1n);
  expect(await graph.count(sql`FROM ${items} WHERE title = ${"' OR true --"}`)).toBe(0n);
});
