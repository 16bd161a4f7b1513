import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { loadRows } from '../load-rows.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
});
afterAll(() => db.close());

describe('rows that JavaScript has', () => {
  test('get the columns and types of their table, values exact, what is missing null', async () => {
    const row = {
      run_number: 9223372036854775807n,
      run_id: "it's; DROP TABLE runs --",
      started_at: '2026-11-20T06:00:00.123Z',
      seconds: 0.1,
      caught_up: false,
      cursor_from: null,
    };
    await loadRows(db, 'next runs"', 'runs', [row]);
    const described = await db.rows('SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = $1', [
      'next runs"',
    ]);
    expect(described.map((column) => [column.column_name, column.data_type])).toEqual(
      loadTableSchema('runs').columns.map((column) => [column.name, column.type]),
    );
    const [read] = await db.rows('SELECT *, CAST(started_at AS VARCHAR) AS at FROM "next runs"""');
    expect(read).toMatchObject({
      run_number: 9223372036854775807n,
      run_id: row.run_id,
      seconds: 0.1,
      caught_up: false,
    });
    expect(read).toMatchObject({ at: '2026-11-20 06:00:00.123+00', cursor_from: null, pipeline: null });
  });

  test('come in order of their columns and all, however many', async () => {
    const rows = Array.from({ length: 250 }, (_, n) => ({
      run_number: n,
      run_id: `r${n}`,
      mode: n % 7 ? 'feed' : null,
    }));
    await loadRows(db, 'next_runs', 'runs', rows);
    const read = await db.rows(
      'SELECT CAST(run_number AS INTEGER) AS run_number, run_id, mode FROM next_runs ORDER BY 1',
    );
    expect(read).toEqual(rows);
  });

  test('replace those that were loaded before', async () => {
    await loadRows(db, 'next_runs', 'runs', [{ run_id: 'a' }, { run_id: 'b' }]);
    await loadRows(db, 'next_runs', 'runs', []);
    expect(await db.row('SELECT count(*) AS n FROM next_runs')).toEqual({ n: 0n });
  });

  test('that do not fit their column are refused', async () => {
    await expect(loadRows(db, 'next_runs', 'runs', [{ started_at: 'soon' }])).rejects.toThrow(/Conversion/);
  });
});
