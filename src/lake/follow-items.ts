import { TABLE_NAMES } from '../tables/table.js';
import { commitTable } from './commit.js';
import type { Lake } from './layout.js';
import { readTable } from './read.js';

/** Derived tables name the version of items that they were made from; its rows are those of the new one. */
export async function followItems(
  lake: Lake,
  { before, after }: { before: bigint; after: bigint },
  info: { runId: string; at: Date },
): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { applied } = await readTable(lake, table);
    if (applied.itemsVersion !== before) continue;
    const change = { table, add: [], remove: [], applied: { itemsVersion: after } };
    await commitTable(lake, change, { ...info, operation: 'OPTIMIZE' });
  }
}
