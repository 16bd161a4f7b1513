import { readPointer } from '../../lake/pointer.js';
import { DERIVED_TABLES } from '../../tables/table.js';
import type { FoundLake } from './open-tables.js';

type Found = Pick<FoundLake, 'pipeline' | 'lake' | 'tables' | 'repairs' | 'derived' | 'isDue'>;

/** True if a run without new data has nothing to do: no item must be read again, and all tables are published. */
export async function isAtRest(found: Found): Promise<boolean> {
  return !found.tables.stale_items.files.some(({ rows }) => rows > 0n) && isComplete(found);
}

/** True if all tables and lake.json belong to the same run, and no setting of derived tables has changed. */
export async function isComplete(found: Found): Promise<boolean> {
  return !found.isDue && isWhole(found) && isPointed(found);
}

/** True if lake.json matches the tables. If it doesn't, the next published run rewrites it. */
async function isPointed({ lake, tables }: Found): Promise<boolean> {
  const pointer = await readPointer(lake);
  const { runs, history } = tables;
  return pointer?.runNumber === (runs.applied.run ?? 0n) && pointer.cursor === (history.applied.cursor ?? null);
}

/** True if all tables belong to the same run. False after a run that committed only some of its tables. */
function isWhole({ tables, repairs, derived }: Found): boolean {
  // The `sources` table is missing if the first run committed only some of its tables.
  if (Object.keys(repairs).length > 0 || tables.sources.version < 0n) return false;
  return (
    tables.items.applied.cursor === tables.history.applied.cursor &&
    DERIVED_TABLES.every(
      (table) => !derived.includes(table) || tables[table].applied.itemsVersion === tables.items.version,
    )
  );
}
