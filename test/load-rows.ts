import type { Database } from '../src/sql/connection.js';
import { type LoadedValue, RelationGraph } from '../src/sql/graph.js';
import { quoteIdentifier } from '../src/sql/quote.js';
import type { TableName } from '../src/tables/table.js';

/** Makes a table of this name, in place of the one that is there, with the columns of `table`, and puts rows into it. */
export async function loadRows(
  db: Database,
  name: string,
  table: TableName,
  rows: readonly Record<string, LoadedValue>[],
): Promise<void> {
  const loaded = new RelationGraph(db).load('loaded', table, rows);
  await loaded.made;
  await db.run(`CREATE OR REPLACE TABLE ${quoteIdentifier(name)} AS FROM ${quoteIdentifier(loaded.name)}`);
  await db.run(`DROP TABLE ${quoteIdentifier(loaded.name)}`);
}
