import { readFile } from 'node:fs/promises';
import { listDerived, selectDerived } from '../analyze/derived-tables.js';
import { findReadTables } from '../check/check.js';
import { countRows, NAMED_TABLES } from '../check/count-rows.js';
import { readKeptCounts } from '../check/kept-counts.js';
import { loadChecks } from '../check/load.js';
import { ignoreMissing } from '../io/errors.js';
import { RelationGraph } from '../sql/graph.js';
import { quoteIdentifier } from '../sql/quote.js';
import { itself } from '../sql/sql.js';
import { privatePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import { createReplayedViews, type Proof, type Report, readApplied } from './proof.js';

/** The approximate number of items to compare at once, because DuckDB can't spill all memory of GROUP BY to disk. */
const PART_ITEMS = 1_500_000n;

export const derivedProof: Proof = {
  name: 'derived',
  claims: 'Each derived table has exactly the rows that its query returns for the tables that it reads.',
  async prove(context, report) {
    const { db, signal } = context;
    let count = 0n;
    const notes: string[] = [];
    for (const derived of listDerived()) {
      const { table, reads, by, hash } = derived;
      // Skips a table that doesn't exist because the first run was interrupted.
      if (![table, ...reads].every((name) => context.tables.has(name))) continue;
      await createReplayedViews(context, [table, ...reads]);
      const applied = readApplied(context.tables.get(table));
      const origin = describeOldOrigin(
        applied.itemsVersion !== BigInt(context.tables.get('items')?.version ?? -1),
        applied.query !== hash,
      );
      const { columns } = loadTableSchema(table);
      // Compares rows without run_id, because an unchanged row keeps the id of the run that computed it.
      const names = columns.filter(({ name }) => name !== 'run_id').map(({ name }) => quoteIdentifier(name));
      const select = selectDerived(derived, Object.fromEntries(reads.map((read) => [read, itself(read)])), 'verify');
      const parts = by === 'product' ? await splitByProduct(db) : ['true'];
      for (const part of parts) {
        signal.throwIfAborted();
        const stored = `SELECT ${names} FROM ${quoteIdentifier(table)} WHERE ${part}`;
        const made = `SELECT ${names} FROM (${select.text}) WHERE ${part}`;
        const row = await db.row(`WITH made AS MATERIALIZED (${made}), stored AS (${stored})
          SELECT (SELECT count(*) FROM (FROM stored EXCEPT ALL FROM made)) AS stale, (SELECT count(*) FROM stored) AS stored,
            (SELECT count(*) FROM made) AS made`);
        const counts = row as Record<'stale' | 'stored' | 'made', bigint>;
        count += counts.stored;
        // Each stored row that isn't stale equals one computed row. All other computed rows are missing.
        const missing = counts.made - (counts.stored - counts.stale);
        if (counts.stale + missing === 0n) continue;
        if (origin !== undefined) notes.push(`${table} was derived ${origin}; the next run derives it again`);
        else
          report({
            table,
            what: `${counts.stale} rows aren't in the result of its query over ${reads.join(' and ')}, and ${missing} rows of the result are missing`,
          });
      }
    }
    return { count, of: 'rows of derived tables', notes };
  },
};

/**
 * Describes why a table may legitimately differ from its query's result. If a run was killed between two commits, the
 * table was computed from older items. After an upgrade of pricelake, it was computed by another query.
 */
function describeOldOrigin(hasOlderItems: boolean, hasOtherQuery: boolean): string | undefined {
  if (hasOlderItems) return 'from an older version of items';
  return hasOtherQuery ? 'by another version of pricelake' : undefined;
}

async function splitByProduct(db: Parameters<Proof['prove']>[0]['db']): Promise<string[]> {
  const row = await db.row('SELECT count(*) AS n FROM items');
  const parts = ((row?.n as bigint) + PART_ITEMS - 1n) / PART_ITEMS;
  if (parts <= 1n) return ['true'];
  return Array.from({ length: Number(parts) }, (_, part) => `hash(product_id) % ${parts} = ${part}`);
}

const FILE = 'memory.ndjson';

export const countProof: Proof = {
  name: 'counts',
  claims: 'For each check, the violation count that runs carry forward equals the violations among all rows.',
  async prove(context, report) {
    const memory = (await readFile(privatePath(context.lake, FILE), 'utf8').catch(ignoreMissing)) ?? '';
    // Checks the saved counts only if they belong to the current files, because runs ignore all other counts.
    const kept = readKeptCounts(findCounts(memory, report), await loadChecks(), (table) =>
      context.tables.get(table)?.files.keys(),
    );
    await createReplayedViews(context, [
      ...new Set(kept.flatMap(({ configured }) => findReadTables(configured.check.sql))),
    ]);
    const graph = new RelationGraph(context.db);
    for (const { configured, violations } of kept) {
      context.signal.throwIfAborted();
      const found = await countRows(graph, configured, NAMED_TABLES);
      if (found.violations === violations) continue;
      const what = `records ${violations} violations of ${configured.check.name}, but there are ${found.violations}. Remove its lines of type "counts"; the next run then counts all rows`;
      report({ table: 'items', file: `_pricelake/${FILE}`, what });
    }
    return { count: BigInt(kept.length), of: 'checks' };
  },
};

/** Finds the newest counts in the lake's saved state. Ignores an incomplete last line. */
function findCounts(memory: string, report: Report): string | undefined {
  const lines = memory.split('\n').slice(0, -1);
  const at = lines.findLastIndex((line) => line.startsWith('{"type":"counts"'));
  try {
    return at < 0 ? undefined : (JSON.parse(lines[at] as string) as { text?: string }).text;
  } catch {
    const what = `line ${at + 1} is damaged: the next run counts all rows, and writes it again`;
    report({ file: `_pricelake/${FILE}`, what });
    return undefined;
  }
}
