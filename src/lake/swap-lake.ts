import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder, syncFolder } from '../io/durable.js';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { type Lake, privatePath, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import { writeDurably } from './durable.js';

const PUBLISHED = ['ATTRIBUTION.md', 'catalog.sql', 'lake.json'];
const orderSchema = z.strictObject({ tables: z.array(z.enum(TABLE_NAMES)) });

/** Returns `_pricelake/rebuild`, where a rebuild prepares the lake that will replace this one. */
export function rebuildPath(lake: Lake): string {
  return privatePath(lake, 'rebuild');
}

/** Returns the path of a file that lists the tables of the rebuilt lake. The file exists only during a swap. */
function orderPath(lake: Lake): string {
  return privatePath(lake, 'swap.json');
}

/** Replaces this lake's tables and logs with those in `_pricelake/rebuild`. */
export async function swapLake(lake: Lake): Promise<void> {
  const rebuilt = { root: rebuildPath(lake) };
  const tables: TableName[] = [];
  for (const table of TABLE_NAMES) if (await exists(tablePath(rebuilt, table))) tables.push(table);
  await makeFolder(privatePath(lake, 'tmp'));
  // THE COMMIT POINT: once this file exists, every command that locks the lake first finishes the swap.
  await writeDurably(lake, orderPath(lake), `${JSON.stringify({ tables })}\n`);
  await finishSwap(lake);
}

/** Finishes an interrupted swap. Returns false if no swap was interrupted. The caller must hold the lock. */
export async function finishSwap(lake: Lake): Promise<boolean> {
  const text = await readFile(orderPath(lake), 'utf8').catch(ignoreMissing);
  if (text === undefined) return false;
  const tables = readOrder(lake, text);
  const rebuilt = { root: rebuildPath(lake) };
  const aside = privatePath(lake, 'replaced');
  await makeFolder(aside);
  for (const table of TABLE_NAMES) {
    const isNew = await exists(tablePath(rebuilt, table));
    // A listed table that is no longer in the rebuilt lake has already been moved.
    if (!isNew && tables.includes(table)) continue;
    if (await exists(tablePath(lake, table))) {
      await rm(join(aside, table), { recursive: true, force: true });
      await rename(tablePath(lake, table), join(aside, table));
    }
    if (isNew) await rename(tablePath(rebuilt, table), tablePath(lake, table));
    await syncFolder(lake.root);
  }
  for (const name of PUBLISHED) {
    if (await exists(join(rebuilt.root, name))) await rename(join(rebuilt.root, name), join(lake.root, name));
  }
  await syncFolder(lake.root);
  await rm(orderPath(lake));
  await syncFolder(privatePath(lake));
  for (const folder of [aside, rebuilt.root]) await rm(folder, { recursive: true, force: true });
  return true;
}

/** Finishes an interrupted swap. Deletes a rebuild that stopped before its swap. The caller must hold the lock. */
export async function settleRebuild(lake: Lake): Promise<void> {
  await finishSwap(lake);
  await dropRebuild(lake);
}

export async function dropRebuild(lake: Lake): Promise<void> {
  await rm(rebuildPath(lake), { recursive: true, force: true });
}

/**
 * Reads the list of the rebuilt lake's tables. If the text isn't JSON, returns all tables, so the swap deletes no table
 * that the rebuilt lake lacks.
 * @throws PricelakeError `lake_invalid` if another version wrote the file
 */
function readOrder(lake: Lake, text: string): readonly TableName[] {
  let order: unknown;
  try {
    order = JSON.parse(text);
  } catch {
    return TABLE_NAMES;
  }
  const read = orderSchema.safeParse(order);
  if (read.success) return read.data.tables;
  const hint =
    'Use the version of pricelake that began the rebuild, or a newer one. If the file is damaged, empty it: the tables of _pricelake/rebuild then take their places.';
  throw new PricelakeError('lake_invalid', `${orderPath(lake)} contains data that this version doesn't recognize`, {
    hint,
  });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreMissing)) !== undefined;
}
