import { quoteIdentifier } from '../duckdb/quote.js';
import { tablePath } from '../lake/layout.js';
import type { TableName } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import type { VerifyContext } from './proof.js';

/** Views over exactly the files that the replayed logs name. Throws what DuckDB says of a file that it can't open. */
export async function createReplayedViews(context: VerifyContext, tables: readonly TableName[]): Promise<void> {
  for (const table of tables) {
    const files = [...(context.tables.get(table)?.files.values() ?? [])];
    const sources = files.map((file) => toRelationFile(file, tablePath(context.lake, table, file.path)));
    await context.db.run(
      `CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${tableRelation(table, sources)}`,
    );
  }
}
