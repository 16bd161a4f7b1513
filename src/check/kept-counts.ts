import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { RelationGraph } from '../sql/graph.js';
import { asRows, type Source } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, type Sql, sql } from '../sql/sql.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import { type Check, findReadTables } from './check.js';
import { type ChangedItems, type CheckedTables, countRows, SAMPLE_ROWS, type Violations } from './count-rows.js';
import type { ConfiguredCheck } from './settings.js';

const keptSchema = z.strictObject({
  /** For each table that the checks read, a hash of its file names. A file never changes, so its name is enough. */
  tables: z.partialRecord(z.enum(TABLE_NAMES), z.string()),
  /** For each check, a hash of its SQL and parameters, the parameters themselves, and its result. */
  checks: z.record(
    z.string(),
    z.strictObject({
      query: z.string(),
      values: z.record(z.string(), z.union([z.string(), z.number()])),
      violations: z.string().regex(/^\d{1,18}$/u),
      rows: z.array(z.string()),
    }),
  ),
});
type Kept = z.infer<typeof keptSchema>;

/** Returns the names of a table's files in any order; undefined if the names aren't known. */
export type ListFiles = (table: TableName) => Iterable<string> | undefined;

/** The maximum number of earlier violating rows to read. If there are more, the saved sample is dropped. */
const MOST_ROWS = 10_000;

const NONE: Violations = { violations: 0n, rows: [], seconds: 0 };

/**
 * The numbers of violations among all items, saved after each run for checks with a scope. From a saved number, the
 * next run subtracts the violations that its changed items had before the run, and adds their violations after the run.
 * If a saved number can't be used, the check reads all rows.
 */
export class KeptCounts {
  readonly #last: Kept['checks'];
  readonly #next: Kept['checks'] = {};
  readonly #tables = new Set<TableName>();

  /** @param text the result of `write`; ignored if it is damaged, or a table's files have changed since then */
  constructor(text: string | undefined, listFiles: ListFiles) {
    this.#last = readKept(text, listFiles);
  }

  get tables(): TableName[] {
    return [...this.#tables];
  }

  write(listFiles: ListFiles): string {
    const tables = Object.fromEntries(this.tables.map((table) => [table, hashFiles(listFiles(table))]));
    return JSON.stringify({ tables, checks: this.#next } satisfies Kept);
  }

  note(configured: ConfiguredCheck, { violations, rows }: Violations): void {
    if (configured.check.scope === undefined) return;
    const { check, values } = configured;
    for (const table of findReadTables(check.sql)) this.#tables.add(table);
    this.#next[check.name] = { query: hashCheck(configured), values, violations: String(violations), rows };
  }

  /**
   * Returns the updated violations of checks that have a saved number, by check name. Omits checks that read a changed
   * table other than `items`.
   */
  async countOn(
    graph: RelationGraph,
    checked: CheckedTables,
    changed: ChangedItems,
    configured: readonly ConfiguredCheck[],
    changedTables: ReadonlySet<string>,
  ): Promise<Map<string, Violations>> {
    const isOfItems = ({ check }: ConfiguredCheck) =>
      !findReadTables(check.sql).some((name) => name !== 'items' && changedTables.has(name));
    const known = configured.flatMap((one) => {
      const last = this.#last[one.check.name];
      return last?.query === hashCheck(one) && isOfItems(one) ? [{ one, last }] : [];
    });
    const found = new Map<string, Violations>();
    for (const key of new Set(known.map(({ one }) => String(one.check.scope)))) {
      const ofScope = known.filter(({ one }) => String(one.check.scope) === key);
      const [before, after] = await selectScope(graph, checked, changed, ofScope[0]?.one.check.scope);
      const count = async ({ one, last }: (typeof known)[number]) => {
        const countOver = (items: Source, keep: number) =>
          countRows(graph, one, { ...checked, tables: { ...checked.tables, items } }, keep);
        // If the saved number is 0, the changed items can't have had violations.
        const had = last.violations === '0' ? NONE : await countOver(before, MOST_ROWS);
        return addCounts(last, had, await countOver(after, SAMPLE_ROWS));
      };
      for (const each of ofScope) {
        // Omits a check that fails here. The check then reads all rows, and reports the error.
        const counted = await count(each).catch(() => undefined);
        if (counted !== undefined) found.set(each.one.check.name, counted);
      }
    }
    return found;
  }
}

/** Returns the saved number minus the earlier violations plus the new ones; undefined if the sample contradicts it. */
function addCounts(last: Kept['checks'][string], before: Violations, after: Violations): Violations | undefined {
  const violations = BigInt(last.violations) - before.violations + after.violations;
  const goneRows = new Set(before.rows);
  const isListed = before.violations <= BigInt(MOST_ROWS);
  const kept = isListed ? last.rows.filter((row) => !goneRows.has(row) && !after.rows.includes(row)) : [];
  const rows = [...after.rows, ...kept].slice(0, SAMPLE_ROWS);
  const isSound = violations >= BigInt(rows.length) && violations > 0n === rows.length > 0;
  return isSound ? { violations, rows, seconds: before.seconds + after.seconds } : undefined;
}

/** Returns the saved numbers of unchanged checks. Returns an empty list if a table's files have changed. */
export function readKeptCounts(text: string | undefined, checks: readonly Check[], listFiles: ListFiles) {
  const last = readKept(text, listFiles);
  return checks.flatMap((check) => {
    const { query, values = {}, violations = '' } = last[check.name] ?? {};
    const configured = { check, severity: check.severity, values };
    return query === hashCheck(configured) ? [{ configured, violations: BigInt(violations) }] : [];
  });
}

function readKept(text: string | undefined, listFiles: ListFiles): Kept['checks'] {
  const kept = keptSchema.safeParse(parseJson(text));
  if (!kept.success) return {};
  const isSame = Object.entries(kept.data.tables).every(
    ([table, hash]) => hash === hashFiles(listFiles(table as TableName)),
  );
  return isSame ? kept.data.checks : {};
}

function hashFiles(names: Iterable<string> | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([...(names ?? [])].sort()))
    .digest('hex');
}

/**
 * Returns two queries for the rows in a check's scope: before the run and after it. The check reads these rows in place
 * of `items`. The rows aren't stored in tables, so that a check reads only the columns that it needs.
 */
async function selectScope(
  graph: RelationGraph,
  { tables: { items } }: CheckedTables,
  { before, after }: ChangedItems,
  scope: Check['scope'],
): Promise<[Source, Source]> {
  if (scope === 'row' || scope === undefined || items === undefined) return [before, after];
  const key = code(scope.map(quoteIdentifier).join(', '));
  const keys = graph.table('scope_keys', sql`SELECT ${key} FROM ${before} UNION SELECT ${key} FROM ${after}`);
  const sites = await restrictSites(graph, keys, scope);
  const now = sql`FROM (FROM ${asRows(items)}${sites}) SEMI JOIN ${keys} USING (${key})`;
  return [sql`SELECT * FROM (${now}) ANTI JOIN ${after} USING (item_id) UNION ALL FROM ${before}`, now];
}

/** Adds a condition on the websites. DuckDB can skip files by this condition, but not by the join alone. */
async function restrictSites(graph: RelationGraph, keys: Relation, scope: readonly string[]): Promise<Sql> {
  if (!scope.includes('site_id')) return sql``;
  const rows = await graph.rows(sql`SELECT DISTINCT site_id FROM ${keys} WHERE site_id IS NOT NULL`);
  const ids = rows.map(({ site_id }) => String(site_id)).join(', ');
  return rows.length === 0 ? sql`` : sql` WHERE site_id IN (${code(ids)})`;
}

function hashCheck({ check, values }: ConfiguredCheck): string {
  return createHash('sha256').update(check.sql).update(JSON.stringify(values)).digest('hex');
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined; // a power failure may have cut off the text
  }
}
