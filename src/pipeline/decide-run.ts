import type { z } from 'zod';
import { planInfo } from '../api/contract.js';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors.js';
import { allowance, countLeft, type RunCaps, refuseCall } from '../extract/allowance.js';
import { chooseMode, type ModeChoice } from '../extract/choose-mode.js';
import { refuseExport } from '../extract/export-allowance.js';
import { createExportGate, type ExportGate } from '../extract/export-gate.js';
import { readPointer } from '../lake/publish.js';
import type { Journal } from '../landing/journal.js';
import { TXN_CURSOR } from '../model.js';
import { readIdleRuns } from './idle-runs.js';
import type { RunRow } from './ledger.js';
import type { Run } from './run.js';

/** A service may leave out what is null. */
const seenPlan = planInfo.partial({ status: true, trialEndsAt: true, usage: true });

/** The plan as the service told it at the run's start (section 2, PlanInfo). */
export type SeenPlan = z.output<typeof seenPlan>;

/** The plan, and what a run may export by it. */
export interface PlannedRun {
  plan: SeenPlan;
  gate: ExportGate;
}

/** Reads the plan, and holds the client to its rate (section 8) and to the calls that are left. */
export async function readPlan({ client, io, pipeline, caps, landing }: Run): Promise<PlannedRun> {
  const plan = await client.json('/plan', {}, seenPlan);
  client.setRate(plan.limits.ratePerSecond ?? null);
  const allowed = allowance(plan, pipeline.budget, reduceCaps(caps, landing.journal));
  const calls = allowed.calls === undefined ? null : Number(countLeft(allowed.calls));
  client.setCallLimit(calls, (made) => refuseCall(allowed, made));
  const { apiCalls, exportRows } = plan.usage ?? {};
  io.log('info', 'plan', { plan: plan.plan, status: plan.status, apiCalls, exportRows });
  return { plan, gate: createExportGate(allowed, io) };
}

/** A run's caps hold for all its tries: what earlier ones took is off them. */
function reduceCaps({ maxRows, maxOverage }: RunCaps, journal: Journal): RunCaps {
  const begun = journal.all('export.begin');
  const rows = begun.reduce((sum, { announced }) => sum + Number(announced), 0);
  const blocks = begun.reduce((sum, one) => sum + Number(one.blocks), 0);
  return {
    maxRows: maxRows === undefined ? undefined : Math.max(0, maxRows - rows),
    maxOverage: maxOverage === undefined ? undefined : Math.max(0, maxOverage - blocks),
  };
}

/** Only on a plan without the feed the limit is false: null and absent are unlimited. */
export function hasFeed(plan: SeenPlan): boolean {
  return plan.limits.changeFeed !== false;
}

/** Decides, once for all tries, how the run brings the lake up to date; the decision stands in the journal. */
export async function decideRun(run: Run, { plan, gate }: PlannedRun): Promise<ModeChoice> {
  const { journal } = run.landing;
  const decided = journal.last('decision');
  if (decided !== undefined) return decided;
  const { tables, pipeline, io, db } = run;
  const pointer = await readPointer(run.lake);
  const known = await db.row('SELECT count(*) AS n FROM items');
  const idleRuns = await readIdleRuns(run.lake);
  const idle = idleRuns.at(-1);
  const snapshotAt = await findLastSnapshot(db, idleRuns);
  const choice = explainRefusal(plan, () =>
    chooseMode({
      wanted: pipeline.source.mode,
      hasItems: tables.items.version >= 0n,
      hasCursor: tables.history.txn[TXN_CURSOR] !== undefined,
      hasFeed: hasFeed(plan),
      historyDays: plan.limits.historyDays ?? null,
      caughtUpAt: idle === undefined ? pointer?.at : new Date(idle.finished_at),
      snapshotAt,
      reconcileEvery: pipeline.reconcile,
      copyRefusal: refuseExport(gate.left(), known?.n as bigint)?.message,
      now: io.now(),
    }),
  );
  io.log('info', 'decided', { ...choice });
  await journal.append({ type: 'decision', ...choice, calls: run.client.calls() });
  return choice;
}

/** A complete copy that showed nothing new waits among the idle runs. */
async function findLastSnapshot(db: Database, idleRuns: readonly RunRow[]): Promise<Date | undefined> {
  const idle = idleRuns.findLast(({ mode }) => mode === 'snapshot');
  if (idle !== undefined) return new Date(idle.started_at);
  const row = await db.row("SELECT epoch_ms(max(started_at)) AS at FROM runs WHERE mode = 'snapshot'");
  return typeof row?.at === 'bigint' ? new Date(Number(row.at)) : undefined;
}

function explainRefusal(plan: SeenPlan, choose: () => ModeChoice): ModeChoice {
  try {
    return choose();
  } catch (error) {
    if (!(error instanceof PricelakeError)) throw error;
    throw new PricelakeError(error.code, `${error.message} (plan "${plan.name}")`, {
      ...error.facts,
      upgradeUrl: plan.upgradeUrl,
    });
  }
}
