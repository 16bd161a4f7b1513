import { readPointer } from '../../lake/pointer.js';
import { DERIVED_TABLES } from '../../tables/table.js';
import type { FoundLake } from './open-tables.js';

type Found = Pick<FoundLake, 'pipeline' | 'lake' | 'tables' | 'repairs' | 'derived' | 'isDue'>;

/** True if the lake only needs a run for new data, because no item must be read again and everything is published. */
export async function isAtRest(found: Found): Promise<boolean> {
  return !found.tables.stale_items.files.some(({ rows }) => rows > 0n) && isComplete(found);
}

/** True if all tables and lake.json are in the same state, and no setting of derived tables has changed. */
export async function isComplete(found: Found): Promise<boolean> {
  return !found.isDue && isWhole(found) && isPointed(found);
}

/** False if lake.json doesn't match the tables. The next published run rewrites it. */
async function isPointed({ lake, tables }: Found): Promise<boolean> {
  const pointer = await readPointer(lake);
  const { runs, history } = tables;
  return pointer?.runNumber === (runs.applied.run ?? 0n) && pointer.cursor === (history.applied.cursor ?? null);
}

/** True if all tables reflect the same run. They don't if a run lost its landed files between commits. */
function isWhole({ tables, repairs, derived }: Found): boolean {
  // If a first run lost its landed files between commits, sources may not exist.
  if (Object.keys(repairs).length > 0 || tables.sources.version < 0n) return false;
  return (
    tables.items.applied.cursor === tables.history.applied.cursor &&
    DERIVED_TABLES.every(
      (table) => !derived.includes(table) || tables[table].applied.itemsVersion === tables.items.version,
    )
  );
}
