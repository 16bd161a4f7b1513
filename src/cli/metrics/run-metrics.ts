import { recallPlan } from '../../account/seen-plan.js';
import { Database } from '../../duckdb/connection.js';
import { listIdleRuns, readMemory } from '../../journal/memory.js';
import type { Lake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { createTableView } from '../../lake/views.js';
import type { Budget } from '../../plan/allowance.js';
import { allowance, countLeft } from '../../plan/allowance.js';
import type { RunReport } from '../../sync/sync.js';
import type { WatchedRun } from '../watch/watch-run.js';
import type { Metric } from './prometheus-text.js';

/** What the lake itself shows, even after a run that failed. */
export interface LakeFacts {
  /** When a run last ended well, ms since the epoch. */
  succeededAt: number | undefined;
  /** Up to when the lake is current. */
  currentAt: number | undefined;
  /** What may be used until the month ends, as a run last saw it. */
  left: { calls: bigint | undefined; exportRows: bigint | undefined };
}

export async function readLakeFacts(lake: Lake, budget: Budget): Promise<LakeFacts> {
  const pointer = await readPointer(lake);
  const memory = await readMemory(lake);
  const idle = listIdleRuns(memory).at(-1);
  const seen = recallPlan(memory);
  const left = seen === undefined ? undefined : allowance(seen.plan, budget);
  const rows = left?.rows ?? left?.quota;
  return {
    succeededAt: newest([pointer?.at.getTime(), parseTime(idle?.finished_at)]),
    currentAt: newest([pointer === undefined ? undefined : await readCurrentAt(lake), parseTime(idle?.caught_up_at)]),
    left: {
      calls: left?.calls === undefined ? undefined : countLeft(left.calls),
      exportRows: rows === undefined ? undefined : countLeft(rows),
    },
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

/** Every figure of a run and of its lake. Of a run that failed those of its rows and checks are left out. */
export function describeMetrics(run: WatchedRun, lake: LakeFacts | undefined): Metric[] {
  const { report, endedAt } = run;
  const one = (name: string, help: string, value: number | bigint | boolean | undefined): Metric => ({
    name,
    help,
    samples: value === undefined ? [] : [{ value }],
  });
  const by = (name: string, help: string, label: string, values: Iterable<[string, number | bigint]>): Metric => ({
    name,
    help,
    samples: [...values].map(([text, value]) => ({ labels: { [label]: text }, value })),
  });
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);
  const current = lake?.currentAt;
  const row = report?.row;
  return [
    one('pricelake_run_success', '1 if the last run ended well, 0 if it failed', run.exitCode === 0),
    one('pricelake_run_exit_code', 'Exit code of the last run', run.exitCode),
    one('pricelake_run_end_timestamp_seconds', 'When the last run ended', seconds(endedAt.getTime())),
    one(
      'pricelake_run_duration_seconds',
      'How long the last run took',
      (endedAt.getTime() - run.startedAt.getTime()) / 1000,
    ),
    by('pricelake_step_duration_seconds', 'How long each step of the last run took', 'step', run.steps),
    one('pricelake_last_success_timestamp_seconds', 'When a run last ended well', seconds(lake?.succeededAt)),
    one('pricelake_current_timestamp_seconds', 'Up to when the lake is current', seconds(current)),
    one(
      'pricelake_lag_seconds',
      'How far the lake was behind when the last run ended',
      current === undefined ? undefined : Math.max(0, endedAt.getTime() - current) / 1000,
    ),
    by('pricelake_left', 'What the plan and the budget leave for the month', 'kind', [
      ...(lake?.left.calls === undefined ? [] : [['calls', lake.left.calls] as [string, bigint]]),
      ...(lake?.left.exportRows === undefined ? [] : [['export_rows', lake.left.exportRows] as [string, bigint]]),
    ]),
    by(
      'pricelake_run_rows',
      'Rows of the last run by what became of them',
      'fate',
      row === undefined ? [] : listFates(row),
    ),
    one('pricelake_run_calls', 'Calls of the last run', row?.calls),
    one('pricelake_items', 'Rows of items', row?.items),
    one('pricelake_stale_items', 'Items that the next run reads again', row?.stale_items ?? undefined),
    {
      name: 'pricelake_checks',
      help: 'Checks of the last run by severity and result',
      samples: report === undefined ? [] : countChecks(report.checks),
    },
    {
      name: 'pricelake_info',
      help: 'Versions',
      samples: row === undefined ? [] : [{ labels: { version: row.pricelake_version }, value: 1 }],
    },
  ];
}

function listFates(row: RunReport['row']): [string, bigint][] {
  return (['received', 'written', 'rejected', 'deduplicated'] as const).map((fate) => [fate, row[fate]]);
}

/** Failed and passed of each severity, also where none did: a series that vanishes alerts nobody. */
function countChecks(checks: RunReport['checks']): Metric['samples'] {
  if (checks.length === 0) return [];
  return (['gate', 'error', 'warn'] as const).flatMap((severity) => {
    const some = checks.filter((check) => check.severity === severity);
    const failed = some.filter(({ violations }) => violations > 0n).length;
    return [
      { labels: { severity, result: 'failed' }, value: failed },
      { labels: { severity, result: 'passed' }, value: some.length - failed },
    ];
  });
}
