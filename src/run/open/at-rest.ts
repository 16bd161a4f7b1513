import type { Pipeline } from '../../config/pipeline-schema.js';
import type { Lake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { DERIVED_TABLES } from '../../tables/table.js';
import { isDeclared } from './declared-rows.js';
import type { Repairs, Tables } from './open-tables.js';

interface FoundLake {
  pipeline: Pipeline;
  lake: Lake;
  tables: Tables;
  repairs: Repairs;
}

/** True if the lake needs a run only for news: no item waits for another read, and everything is published. */
export async function isAtRest(found: FoundLake): Promise<boolean> {
  return !found.tables.stale_items.files.some(({ rows }) => rows > 0n) && isComplete(found);
}

/** True if all tables and lake.json are at the same state, and the pipeline file has not changed. */
export async function isComplete(found: FoundLake): Promise<boolean> {
  return !isDeclared(found) && isWhole(found) && isPointed(found);
}

/** False if lake.json does not match the tables. A run that publishes writes it again. */
async function isPointed({ lake, tables }: FoundLake): Promise<boolean> {
  const pointer = await readPointer(lake);
  const { runs, history } = tables;
  return pointer?.runNumber === (runs.applied.run ?? 0n) && pointer.cursor === (history.applied.cursor ?? null);
}

/** True if every table is at the same state. A run that lost its landing midway leaves them at different ones. */
function isWhole({ tables, repairs }: FoundLake): boolean {
  // A first run that lost its landing midway may have no sources.
  if (Object.keys(repairs).length > 0 || tables.sources.version < 0n) return false;
  return (
    tables.items.applied.cursor === tables.history.applied.cursor &&
    DERIVED_TABLES.every((table) => tables[table].applied.itemsVersion === tables.items.version)
  );
}
