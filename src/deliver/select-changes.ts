import { PricelakeError } from '../io/errors.js';
import { requireFiles } from '../lake/partial.js';
import { quoteIdentifier, quoteList, quoteLiteral } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { parseSince, type Since } from './since.js';
import { areKept, readSpan, type TableSpan } from './table-span.js';

interface ChangeSelect {
  select: string;
  from: bigint;
  to: bigint;
  /** The runs that changed rows between the two versions. */
  runs: string[];
}

/**
 * Builds a query for the rows of a table that are new, changed or gone. `change` is the kind of change, and
 * `changed_columns` lists the columns that changed. For items, `events` lists the kinds of the item's changes in order.
 * A row that is gone has its last values. If the lake hasn't kept the replaced files, an item may be new or changed,
 * and its `change` is `written`. Reads only files that commits added or removed.
 * @param text the start of the changes, as `parseSince` accepts it
 * @throws PricelakeError `usage` if neither the log nor the kept files contain the changes
 */
export async function selectChanges(lake: Lake, table: TableName, text: string): Promise<ChangeSelect> {
  const span = await readSpan(lake, table, parseSince(text));
  const rows = await selectRows(lake, span);
  const columns = loadTableSchema(table).columns.map(({ name }) => `c.${quoteIdentifier(name)}`);
  const events = table === 'items' ? await selectEvents(lake, span, parseSince(text)) : undefined;
  const order = loadTableSchema(table).key.map((name) => `c.${quoteIdentifier(name)}`);
  const select = `SELECT c.change, c.changed_columns, ${events === undefined ? '' : 'e.events, '}${columns.join(', ')}
FROM (${rows}) AS c${events === undefined ? '' : `\nLEFT JOIN (${events}) AS e USING (item_id)`}
ORDER BY ${order.join(', ')}`;
  return { select, from: span.from, to: span.to, runs: span.runIds };
}

async function selectRows(lake: Lake, span: TableSpan): Promise<string> {
  const { table, added, removed, replaced, isByRuns, runIds } = span;
  await requireFiles(lake, table, added);
  const written = `SELECT * FROM ${relate(lake, table, added)} WHERE run_id IN (SELECT unnest(${quoteList(runIds)}::VARCHAR[]))`;
  // If the runs didn't replace any files, all rows that they wrote are new.
  if (isByRuns && replaced.length === 0)
    return `SELECT 'new' AS change, ${NO_NAMES} AS changed_columns, * FROM (${written})`;
  if (await areKept(lake, table, removed)) {
    return compareRows(loadTableSchema(table), relate(lake, table, removed), relate(lake, table, added));
  }
  // Items are never deleted, and unchanged rows keep their run_id, so these rows are new or changed.
  if (isByRuns && table === 'items')
    return `SELECT 'written' AS change, ${NO_NAMES} AS changed_columns, * FROM (${written})`;
  throw new PricelakeError(
    'usage',
    `can't reconstruct ${table} at version ${span.from}, because files replaced since that version were not kept`,
    {
      hint: 'To keep replaced files from now on, set lake.retention in the pipeline file, for example to 7d.',
    },
  );
}

const NO_NAMES = 'CAST(NULL AS VARCHAR[])';

function relate(lake: Lake, table: TableName, files: readonly DataFile[]): string {
  return tableRelation(
    table,
    files.map((file) => toRelationFile(file, tablePath(lake, table, file.path))),
  );
}

/**
 * Compares two relations by key, ignoring `run_id`. Uses the whole row as the key if a key column may be null, as in
 * history. Rows of such a table never change.
 */
function compareRows({ key: named, columns }: TableSchema, before: string, after: string): string {
  const names = columns.map(({ name }) => name).filter((name) => name !== 'run_id');
  const isKeyPresent = columns.every(({ name, nullable }) => !named.includes(name) || !nullable);
  const key = isKeyPresent ? named : names;
  const values = names.filter((name) => !key.includes(name));
  const same = key.map((name) => `b.${quoteIdentifier(name)} IS NOT DISTINCT FROM a.${quoteIdentifier(name)}`);
  const differs = values.map((name) => {
    const [column, text] = [quoteIdentifier(name), quoteLiteral(name)];
    return `CASE WHEN b.${column} IS DISTINCT FROM a.${column} THEN ${text} END`;
  });
  const row = columns.map(({ name }) => {
    const column = quoteIdentifier(name);
    return `CASE WHEN a._is THEN a.${column} ELSE b.${column} END AS ${column}`;
  });
  return `SELECT * FROM (
  SELECT
    CASE WHEN b._is IS NULL THEN 'new' WHEN a._is IS NULL THEN 'gone' ELSE 'changed' END AS change,
    CASE WHEN b._is AND a._is THEN list_filter([${differs.join(', ')}]::VARCHAR[], lambda name: name IS NOT NULL) END AS changed_columns,
    ${row.join(', ')}
  FROM (SELECT *, true AS _is FROM ${before}) AS b
  FULL JOIN (SELECT *, true AS _is FROM ${after}) AS a ON ${same.join(' AND ')}
) WHERE change <> 'changed' OR len(changed_columns) > 0`;
}

/**
 * Selects the events of items: the changes from one version's cursor to the other's, and differences that comparisons
 * found. The older version's history may already contain some of these changes.
 */
async function selectEvents(lake: Lake, { applied }: TableSpan, since: Since): Promise<string> {
  const { before, after } = applied;
  const run: Since = { kind: 'run', number: before.run ?? 0n };
  const history = await readSpan(lake, 'history', since.kind === 'version' ? run : since);
  const from = before.cursor ?? 0n;
  const files = history.applied.before.ahead > from ? history.files : history.added;
  await requireFiles(lake, 'history', files);
  return `SELECT item_id, list(kind ORDER BY observed_at, change_id) AS events
FROM ${relate(lake, 'history', files)}
WHERE item_id IS NOT NULL AND origin <> 'history' AND (
  change_id > ${from} ${after.cursor === undefined ? '' : `AND change_id <= ${after.cursor}`}
  OR change_id IS NULL AND run_id IN (SELECT unnest(${quoteList(history.runIds)}::VARCHAR[])))
GROUP BY item_id`;
}
