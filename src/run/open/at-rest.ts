import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFile, syncFolder } from '../../io/durable.js';
import type { Landing } from '../../journal/landings.js';
import { readPointer } from '../../lake/pointer.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { quoteLiteral } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, readFiles, sql } from '../../sql/sql.js';
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

/** True if all tables are at the same run. They differ if a run lost its landed files between commits. */
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

const fileOf = ({ folder }: Pick<Landing, 'folder'>) => path.join(folder, 'stale-items.parquet');

/** True if the run has begun to apply data to a lake with stale items. */
export function hasCarriedStale(landing: Pick<Landing, 'folder'>): boolean {
  return existsSync(fileOf(landing));
}

/**
 * Returns the rows of stale_items from before the run. A run commits stale_items before items, so a later attempt no
 * longer finds items that the first attempt read. A copy of the rows is kept with the landed files until publication.
 */
export async function readCarriedStale(graph: RelationGraph, landing: Landing, before: LakeRows): Promise<Relation> {
  const file = fileOf(landing);
  if (!hasCarriedStale(landing)) {
    const rows = await before.rows('stale_items');
    if ((await graph.count(rows)) === 0n) return rows;
    const select = sql`SELECT ${columnsOf('stale_items')} FROM ${rows}`;
    await graph.ready(select);
    await graph.db.run(`COPY (${select.text}) TO ${quoteLiteral(`${file}.new`)} (FORMAT parquet)`);
    await syncFile(`${file}.new`);
    await rename(`${file}.new`, file);
    await syncFolder(landing.folder);
  }
  return graph.table('carried_stale_items', sql`FROM ${readFiles('read_parquet', [file])}`);
}

/** Removes that copy, because a rebuild that replays the run finds the rows in the rebuilt tables. */
export function dropCarriedStale(landing: Pick<Landing, 'folder'>): Promise<void> {
  return rm(fileOf(landing), { force: true });
}
