import { listIdleRuns, readMemory } from '../../journal/memory.js';
import { openLake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { createTableView } from '../../lake/views.js';
import { findAllowance } from '../../plan/allowance.js';
import { recallAccountPlan } from '../../run/open/service-state.js';
import { Database } from '../../sql/connection.js';
import type { Lake } from '../../tables/layout.js';
import type { WatchedPipeline } from './watch-run.js';

export type LakeFigures = Awaited<ReturnType<typeof readLakeFigures>>;

/** Reads the lake's metrics that are available even after a failed run. Times are in milliseconds since 1970. */
export async function readLakeFigures({ lake: { path }, budget }: WatchedPipeline) {
  const lake = await openLake(path, { create: false });
  const pointer = await readPointer(lake);
  const memory = await readMemory(lake);
  const idle = listIdleRuns(memory).at(-1);
  const seen = recallAccountPlan(memory);
  const left = seen === undefined ? undefined : findAllowance(seen.plan, budget);
  return {
    succeededAt: newest([pointer?.at.getTime(), parseTime(idle?.finished_at)]),
    currentAt: newest([pointer === undefined ? undefined : await readCurrentAt(lake), parseTime(idle?.caught_up_at)]),
    bounds: { calls: left?.calls, export_rows: left?.rows ?? left?.quota },
    resetsAt: left?.resetsAt,
  };
}

async function readCurrentAt(lake: Lake): Promise<number | undefined> {
  const db = await Database.open({ threads: 1 });
  try {
    await createTableView(db, lake, 'runs', 'runs');
    const row = await db.row('SELECT epoch_ms(max(caught_up_at)) AS at FROM runs');
    return typeof row?.at === 'bigint' ? Number(row.at) : undefined;
  } finally {
    await db.close();
  }
}

function newest(times: (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function parseTime(text: string | null | undefined): number | undefined {
  return text == null ? undefined : Date.parse(text);
}
