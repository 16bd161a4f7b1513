import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { quoteIdentifier } from './quote.js';

/**
 * The columns of `table` whose names are in one of the SQL texts, as a list for SELECT. A text that names the
 * columns of its result reads no others, so that a scan for it need not either: rows of `items` are wide.
 */
export function selectNamedColumns(table: TableName, texts: readonly string[]): string {
  const words = new Set(texts.flatMap((text) => text.match(/\w+/gu) ?? []));
  const columns = loadTableSchema(table).columns.filter(({ name }) => words.has(name));
  return columns.map(({ name }) => quoteIdentifier(name)).join(', ');
}
