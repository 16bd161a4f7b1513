import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { asTree, listTrees, parseSelect, type Tree, toName, walkTree } from '../../check/query-tree.js';
import { PricelakeError } from '../../io/errors.js';

/** Functions that make rows of their arguments alone. */
const PLAIN = new Set(['unnest', 'generate_series', 'range', 'json_each', 'json_tree']);
/** Functions whose result may be of any size. DuckDB neither counts its bytes nor stops while it makes one. */
const GROWING = new Set([
  ...['repeat', 'lpad', 'rpad', 'printf', 'format', 'bitstring'],
  ...['range', 'generate_series', 'list_resize', 'array_resize'],
  ...['list_reduce', 'array_reduce', 'reduce'],
]);
/** They grow if the new text is long. */
const REPLACING = new Set(['replace', 'regexp_replace']);
const MOST_REPLACEMENT = 100;
const HINT = 'Query the tables and views that `describe` lists.';

/**
 * Lets a SELECT read tables and views only. The sandbox keeps it from all files but the lake's; this also keeps it from
 * reading those as files, from SQL inside a text, and from values that grow beyond every limit of memory.
 * Looks at the text, because DuckDB computes constants as it prepares. Returns false for what it can't look at.
 * @throws PricelakeError `query`
 */
export async function refuseFiles(connection: DuckDBConnection, sql: string): Promise<boolean> {
  const row = async (text: string, values: DuckDBValue[] = []) =>
    (await connection.runAndReadAll(text, values)).getRowObjects()[0];
  const tree = await parseSelect({ row }, sql);
  if (tree === undefined) return false;
  const streamed = new Set<Tree>();
  for (const node of walkTree(tree)) {
    const { type, function: called, table_name: table } = node;
    if (node.class === 'FUNCTION' && !streamed.has(node)) refuseGrowth(node);
    if (type === 'TABLE_FUNCTION') {
      const name = toName(asTree(called).function_name);
      streamed.add(asTree(called));
      if (!PLAIN.has(name)) throw new PricelakeError('query', `${name}() is not allowed here`, { hint: HINT });
    }
    if (type === 'BASE_TABLE' && /[^\w ]/u.test(String(table))) {
      throw new PricelakeError('query', `files can't be read as tables: ${String(table)}`, { hint: HINT });
    }
  }
  return true;
}

function refuseGrowth({ function_name: named, children }: Tree): void {
  const name = toName(named);
  const replacement = asTree(listTrees(children)[2]).value;
  const isLong = replacement === undefined || JSON.stringify(replacement).length > MOST_REPLACEMENT + 100;
  if (!GROWING.has(name) && !(REPLACING.has(name) && isLong)) return;
  throw new PricelakeError('query', `${name}() is not allowed here, because its result may be of any size`, {
    hint: REPLACING.has(name)
      ? `Replace by a literal of up to ${MOST_REPLACEMENT} characters.`
      : 'Count with FROM range(…), and leave the layout of values to the reader.',
  });
}
