import { KeptCounts, type ListFiles } from '../../check/kept-counts.js';
import { ScopedCounts } from '../../check/scoped-counts.js';
import { readTable } from '../../lake/read.js';
import type { AuditedRun } from '../../run/open/wings.js';
import { FEW_ROWS } from '../../sql/graph.js';
import { columnsOf, sql } from '../../sql/sql.js';
import type { TableName, TableState } from '../../tables/table.js';

/**
 * Returns the counts of an earlier run and the rows that this run changes. With these, checks needn't read unchanged
 * rows. If many items changed, or another program changed the items table, checks read all rows.
 */
export async function countChanges(run: AuditedRun): Promise<ScopedCounts> {
  const { found, graph, memory, next, merge } = run;
  const { items } = found.tables;
  const changed = await graph.count(merge.merged);
  const isItemsChanged = next.changes.some(({ table }) => table === 'items');
  const isRepaired = found.repairs.items !== undefined;
  const hasFewChanges = changed <= FEW_ROWS && !isRepaired && items.version >= 0n && isItemsChanged;
  const kept = new KeptCounts(hasFewChanges ? memory.state.counts : undefined, listFiles(found.tables));
  const after = sql`SELECT ${columnsOf('items')} FROM ${merge.merged}`;
  const scope = {
    kept,
    changedTables: listChanged(run),
    changed: hasFewChanges ? { before: merge.before, after: graph.view('items_after', after) } : undefined,
  };
  return new ScopedCounts(scope, async () => {
    const states = await Promise.all(kept.tables.map((table) => readTable(found.lake, table)));
    const text = kept.write(listFiles(Object.fromEntries(states.map((state) => [state.table, state]))));
    if (text !== memory.state.counts) await memory.append({ type: 'counts', text });
  });
}

function listChanged({ next }: AuditedRun): ReadonlySet<TableName> {
  const others = next.changes.filter(({ add, remove }) => add.length + remove.length > 0);
  // These two tables describe the run itself. They are staged after the checks, so `next.changes` doesn't include them.
  return new Set([...others.map(({ table }) => table), 'check_results', 'runs'] as const);
}

const listFiles =
  (tables: Partial<Record<TableName, TableState>>): ListFiles =>
  (table) =>
    tables[table]?.files.map(({ path }) => path);
