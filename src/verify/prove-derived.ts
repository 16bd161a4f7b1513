import { listDerived, selectDerived } from '../analyze/derive.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { itself } from '../sql/sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { Proof } from './proof.js';
import { readApplied } from './read-applied.js';
import { createReplayedViews } from './table-views.js';

/** Items whose products are compared at a time: what groups hold can't all be spilled. */
const PART_ITEMS = 1_500_000n;

export const derivedProof: Proof = {
  name: 'derived',
  claims: 'Each derived table has exactly the rows that its query gives over the tables that it reads.',
  async prove(context, report) {
    const { db, signal } = context;
    let count = 0n;
    const notes: string[] = [];
    for (const derived of listDerived()) {
      const { table, reads, byProduct, hash } = derived;
      // A table of an earlier version's lake comes with the next run.
      if (![table, ...reads].every((name) => context.tables.has(name))) continue;
      await createReplayedViews(context, [table, ...reads]);
      const applied = readApplied(context.tables.get(table));
      const origin = describeOldOrigin(
        applied.itemsVersion !== BigInt(context.tables.get('items')?.version ?? -1),
        applied.query !== hash,
      );
      const { columns } = loadTableSchema(table);
      // A row that did not change keeps the number of the run that made it.
      const names = columns.filter(({ name }) => name !== 'run_id').map(({ name }) => quoteIdentifier(name));
      const select = selectDerived(derived, Object.fromEntries(reads.map((read) => [read, itself(read)])), 'verify');
      const parts = byProduct ? await splitByProduct(db) : ['true'];
      for (const part of parts) {
        signal.throwIfAborted();
        const stored = `SELECT ${names} FROM ${quoteIdentifier(table)} WHERE ${part}`;
        const made = `SELECT ${names} FROM (${select.text}) WHERE ${part}`;
        const row = await db.row(`SELECT (SELECT count(*) FROM (${stored} EXCEPT ALL ${made})) AS stale,
          (SELECT count(*) FROM (${made} EXCEPT ALL ${stored})) AS missing, (SELECT count(*) FROM (${stored})) AS n`);
        count += row?.n as bigint;
        const wrong = (row?.stale as bigint) + (row?.missing as bigint);
        if (wrong === 0n) continue;
        if (origin !== undefined) notes.push(`${table} is made ${origin}; the next run makes it again`);
        else
          report({
            table,
            what: `${row?.stale} rows do not follow from ${reads.join(' and ')}, ${row?.missing} that do are missing`,
          });
      }
    }
    return { count, of: 'rows of derived tables', notes };
  },
};

/** A run that was killed between two commits leaves older items behind, an upgrade of pricelake another query. */
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
