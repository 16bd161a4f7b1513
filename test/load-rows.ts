import type { Database } from '../src/sql/connection.js';
import { type LoadedValue, RelationGraph } from '../src/sql/graph.js';
import { quoteIdentifier } from '../src/sql/quote.js';
import type { TableName } from '../src/tables/table.js';

/** Creates or replaces a table of this name, with the columns of `table`, and inserts the rows. */
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
