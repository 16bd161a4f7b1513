import { cp } from 'node:fs/promises';
import path from 'node:path';
import { commitTable } from '../../src/lake/commit.js';
import { openLake } from '../../src/lake/lake.js';
import { refreshPointer } from '../../src/lake/publish.js';
import type { Lake } from '../../src/tables/layout.js';
import { AT } from '../lake/items.js';
import type { World } from '../run/world.js';

/** Commits to table datasets until a checkpoint is among its log. */
export async function passCheckpoint({ lakePath }: World): Promise<void> {
  const lake = await openLake(lakePath, { create: false });
  for (let version = 0n; version < 10n; version++) {
    const change = { table: 'datasets' as const, add: [], remove: [], applied: { run: version } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: AT });
  }
  await refreshPointer(lake);
}

let copies = 0;

/** A copy of the world's lake, for a test that damages it. */
export async function copyLake({ folder, lakePath }: World): Promise<Lake> {
  const copy = path.join(folder, `lake-${++copies}`);
  await cp(lakePath, copy, { recursive: true });
  return openLake(copy, { create: false });
}
