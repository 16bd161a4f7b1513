import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import { asTree, listTrees, parseSelect, type Tree, toName, walkTree } from './query-tree.js';
import { parseReading, prepareSelect } from './read-only-sql.js';

/**
 * The sources that a user's SELECT may read. `tables` excludes files, and functions whose result may have any size.
 * `files` allows these functions, and also table functions that read files (`lockDown` limits which files).
 */
export type Reach = 'tables' | 'files';

/** The table functions whose rows depend only on their arguments. */
const PLAIN = ['unnest', 'generate_series', 'range', 'json_each', 'json_tree'];
const FILES = [
  ...['read_parquet', 'parquet_scan', 'parquet_metadata', 'parquet_file_metadata', 'parquet_full_metadata'],
  ...['parquet_schema', 'parquet_kv_metadata', 'parquet_bloom_probe', 'read_csv', 'read_csv_auto', 'sniff_csv'],
  ...['read_json', 'read_json_auto', 'read_json_objects', 'read_json_objects_auto', 'read_ndjson', 'read_ndjson_auto'],
  ...['read_ndjson_objects', 'read_text', 'read_blob', 'glob'],
];
/** The table functions that a SELECT may call. */
export const TABLE_FUNCTIONS: Record<Reach, ReadonlySet<string>> = {
  tables: new Set(PLAIN),
  files: new Set([...PLAIN, ...FILES]),
};

/** The functions that no SELECT may call, because they write, wait, change the session, or plan SQL given as text. */
export const REFUSED_SCALARS: ReadonlySet<string> = new Set([
  ...['write_log', 'sleep_ms', 'pg_sleep', 'setseed', 'nextval', 'json_serialize_plan'],
]);

/** The functions whose result may have any size. DuckDB can't interrupt them, and doesn't count their memory. */
const GROWING = new Set([
  ...['repeat', 'lpad', 'rpad', 'printf', 'format', 'bitstring'],
  ...['range', 'generate_series', 'list_resize', 'array_resize'],
  ...['list_reduce', 'array_reduce', 'reduce'],
]);
const REPLACING = new Set(['replace', 'regexp_replace']);
const MOST_REPLACEMENT = 100;
const HINTS: Record<Reach, string> = {
  tables: "Query the lake's tables and the price_spells view.",
  files: "Query the lake's tables, or use read_parquet and read_csv on their files.",
};

/**
 * Prepares one SELECT of a user. First checks its syntax tree, because preparing a statement already computes constants
 * and calls some functions.
 * @throws PricelakeError `query` for a function that isn't allowed, or the errors of `prepareSelect`
 */
export async function prepareUserSelect(
  connection: DuckDBConnection,
  sql: string,
  reach: Reach,
): Promise<DuckDBPreparedStatement> {
  await requireUserSelect(connection, sql, reach);
  return prepareSelect(connection, sql);
}

/** Checks a statement without preparing it, so that another process can prepare it. Returns true for an EXPLAIN. */
export async function requireUserSelect(connection: DuckDBConnection, sql: string, reach: Reach): Promise<boolean> {
  const { read, explains } = await parseReading(connection, sql);
  const row = async (text: string, values: DuckDBValue[] = []) =>
    (await connection.runAndReadAll(text, values)).getRowObjects()[0];
  const tree = await parseSelect({ row }, read);
  if (tree === undefined) {
    // This rejects even an INSERT that starts with WITH, which `parseReading` accepts.
    throw new PricelakeError('query', 'only SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE and SHOW are allowed');
  }
  requireAllowed(tree, reach);
  return explains;
}

function requireAllowed(tree: Tree, reach: Reach): void {
  const streamed = new Set<Tree>();
  for (const node of walkTree(tree)) {
    const { type, function: called, table_name: table } = node;
    if (node.class === 'FUNCTION' && !streamed.has(node)) requireScalar(node, reach);
    if (type === 'TABLE_FUNCTION') {
      const name = toName(asTree(called).function_name);
      streamed.add(asTree(called));
      if (!TABLE_FUNCTIONS[reach].has(name)) throw refuse(`${name}() is not allowed here`, reach);
    }
    if (reach === 'tables' && type === 'BASE_TABLE' && /[^\w ]/u.test(String(table))) {
      throw refuse(`files can't be read as tables: ${String(table)}`, reach);
    }
  }
}

const refuse = (message: string, reach: Reach) => new PricelakeError('query', message, { hint: HINTS[reach] });

function requireScalar({ function_name: named, children }: Tree, reach: Reach): void {
  const name = toName(named);
  if (REFUSED_SCALARS.has(name)) throw refuse(`${name}() is not allowed here`, reach);
  if (reach === 'files') return;
  const replacement = asTree(listTrees(children)[2]).value;
  const isLong = replacement === undefined || JSON.stringify(replacement).length > MOST_REPLACEMENT + 100;
  if (!GROWING.has(name) && !(REPLACING.has(name) && isLong)) return;
  throw new PricelakeError('query', `${name}() is not allowed here, because its result may be of any size`, {
    hint: REPLACING.has(name)
      ? `Use a literal replacement of up to ${MOST_REPLACEMENT} characters.`
      : 'To generate rows, use FROM range(…). Format values outside the query.',
  });
}
