import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { parseSelect, toName, walkTree } from '../../check/query-tree.js';
import { PricelakeError } from '../../io/errors.js';

/** Functions that make rows of their arguments alone. */
const PLAIN = new Set(['unnest', 'generate_series', 'range', 'json_each', 'json_tree']);
const HINT = 'Query the tables and views that `describe` lists.';

/**
 * Lets a SELECT read tables and views only. The sandbox keeps it from all files but the lake's; this also keeps it from
 * reading those as files, and from SQL inside a text.
 * @throws PricelakeError `query`
 */
export async function refuseFiles(connection: DuckDBConnection, sql: string): Promise<void> {
  const row = async (text: string, values: DuckDBValue[] = []) =>
    (await connection.runAndReadAll(text, values)).getRowObjects()[0];
  const tree = await parseSelect({ row }, sql);
  if (tree === undefined) {
    throw new PricelakeError('query', 'only SELECT, FROM, WITH, VALUES, DESCRIBE and SUMMARIZE can run here', {
      hint: 'Write PIVOT as an aggregate with FILTER.',
    });
  }
  for (const { type, function: called, table_name: table } of walkTree(tree)) {
    if (type === 'TABLE_FUNCTION') {
      const name = toName((called as Record<string, unknown> | undefined)?.function_name);
      if (!PLAIN.has(name)) throw new PricelakeError('query', `${name}() is not allowed here`, { hint: HINT });
    }
    if (type === 'BASE_TABLE' && /[^\w ]/u.test(String(table))) {
      throw new PricelakeError('query', `files can't be read as tables: ${String(table)}`, { hint: HINT });
    }
  }
}
