/** Compares two lakes table by table. Reads the files that lake.json lists, without the code that wrote them. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { listPublishedFiles } from '../front/published-files.js';

/** Columns in which two builds may write different values for the same landed data, and why. */
export interface Allowance {
  table: string;
  columns: readonly string[];
  reason: string;
}

export interface Difference {
  table: string;
  /** Lines for people: columns, or the first rows that differ. */
  lines: string[];
}

/** Columns that differ after a run was continued. A rebuild must write the same values in all columns. */
export const CONTINUED: readonly Allowance[] = [
  { table: 'check_results', columns: ['seconds'], reason: 'a check is timed by the clock of the machine' },
  { table: 'check_results', columns: ['description'], reason: 'the texts of checks may be reworded' },
];

const SHOWN = 5;
const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** @returns the tables with equal rows, and what differs in the others */
export async function compareLakes(before: string, after: string, allowances: readonly Allowance[] = []) {
  const instance = await DuckDBInstance.create();
  const db = await instance.connect();
  try {
    const [old, now] = [listPublishedFiles(before), listPublishedFiles(after)];
    const tables = [...new Set([...old.keys(), ...now.keys()])].sort();
    const equal: { table: string; rows: number }[] = [];
    const different: Difference[] = [];
    for (const table of tables) {
      const columnsBefore = await openTable(db, 'before', old.get(table));
      const columnsAfter = await openTable(db, 'after', now.get(table));
      const lines = [];
      if (columnsBefore.join() === columnsAfter.join()) {
        const left = allowances.filter((one) => one.table === table).flatMap(({ columns }) => columns);
        const names = columnsBefore
          .map((column) => column.split(' ', 1)[0] ?? '')
          .filter((name) => !left.includes(name));
        if (names.length > 0) lines.push(...(await compareRows(db, names)));
      } else {
        lines.push(
          `columns are ${columnsAfter.join(', ') || 'none'}`,
          `they were ${columnsBefore.join(', ') || 'none'}`,
        );
      }
      if (lines.length > 0) different.push({ table, lines });
      else equal.push({ table, rows: columnsBefore.length === 0 ? 0 : await count(db, 'before') });
    }
    return { equal, different };
  } finally {
    db.closeSync();
    instance.closeSync();
  }
}

/** @returns the columns with their types; none where the table has no file */
async function openTable(db: DuckDBConnection, name: string, files: readonly string[] = []) {
  if (files.length === 0) return [];
  const list = files.map((file) => `'${file.replaceAll("'", "''")}'`).join(', ');
  await db.run(`CREATE OR REPLACE TEMP VIEW ${name} AS FROM read_parquet([${list}], hive_partitioning = false)`);
  const described = await db.runAndReadAll(`DESCRIBE ${name}`);
  return described
    .getRowObjects()
    .map((row) => `${row.column_name} ${row.column_type}`)
    .sort();
}

async function count(db: DuckDBConnection, name: string): Promise<number> {
  const result = await db.runAndReadAll(`SELECT count(*)::INTEGER FROM ${name}`);
  return Number(result.getRows()[0]?.[0]);
}

/** The columns that differ, and rows that one of them has more often than the other: their ids and these columns. */
async function compareRows(db: DuckDBConnection, names: readonly string[]): Promise<string[]> {
  const missing = async (columns: readonly string[], from: string, other: string): Promise<string[]> => {
    const rows = (name: string) => `SELECT ${columns.map(quote).join(', ')} FROM ${name}`;
    const sql = `SELECT to_json(r)::VARCHAR FROM (${rows(from)} EXCEPT ALL ${rows(other)}) AS r ORDER BY ALL`;
    return (await db.runAndReadAll(sql)).getRows().map(([row]) => String(row));
  };
  const isSame = async (columns: readonly string[]) =>
    [...(await missing(columns, 'before', 'after')), ...(await missing(columns, 'after', 'before'))].length === 0;
  if (await isSame(names)) return [];
  const different: string[] = [];
  for (const name of names) if (!(await isSame([name]))) different.push(name);
  // Where each column has the same values, they are in other rows.
  const shown = different.length === 0 ? names : names.filter((name) => different.includes(name) || isKey(name));
  const list = (sign: string, rows: string[]) => [
    ...rows.slice(0, SHOWN).map((row) => `${sign} ${row}`),
    ...(rows.length > SHOWN ? [`${sign} and ${rows.length - SHOWN} more rows`] : []),
  ];
  return [
    `in ${different.join(', ') || 'which values stand in one row'}`,
    ...list('-', await missing(shown, 'before', 'after')),
    ...list('+', await missing(shown, 'after', 'before')),
  ];
}

const isKey = (name: string) => name === 'day' || name === 'name' || name.endsWith('_id');
