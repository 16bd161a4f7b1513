import type { ApiClient } from '../api/client.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../lake/lake.js';
import type { Journal } from '../landing/journal.js';
import type { Landing } from '../landing/landing.js';
import { foldProgress } from '../landing/run-progress.js';
import { type Allowance, allowance, type Budget, countLeft, type RunCaps, refuseCall } from '../plan/allowance.js';
import { createExportGate, type ExportGate } from '../plan/export-gate.js';
import { openExportMemory } from './export-memory.js';
import { rememberPlan, type SeenPlan, seenPlan } from './seen-plan.js';

export type { SeenPlan } from './seen-plan.js';

/** The parts of a run that ask the service and note its answers about the account. */
export interface Caller {
  client: ApiClient;
  io: Io;
  landing: Landing;
}

/** Bounds of a run beside the plan. */
interface Bounds {
  lake: Lake;
  pipeline: { budget: Budget };
  caps: RunCaps;
}

/** The account's plan, and the gate for exports under it. */
export interface PlannedRun {
  plan: SeenPlan;
  gate: ExportGate;
}

/** Section 4, /plan. */
export function fetchPlan(client: ApiClient): Promise<SeenPlan> {
  return client.json('/plan', {}, seenPlan);
}

/** Reads the plan for a run, and notes the service's count at that time. */
export async function readPlan(run: Caller & Bounds): Promise<PlannedRun> {
  const { journal } = run.landing;
  const planned = await openPlan(run, journal);
  await rememberPlan(run.lake, planned.plan, run.io.now());
  const counted = pickUsage(planned.plan);
  await journal.append({ type: 'usage.before', counted, calls: run.client.calls() });
  run.io.log('info', 'plan', { plan: planned.plan.plan, status: planned.plan.status, ...counted });
  return planned;
}

/** Reads the plan and opens the gate for exports. What earlier tries of the run took counts against its caps. */
export async function openPlan(
  { client, io, lake, pipeline, caps }: Pick<Caller, 'client' | 'io'> & Bounds,
  journal: Pick<Journal, 'entries'>,
): Promise<PlannedRun> {
  const { plan, allowed } = await fetchAllowance(client, pipeline.budget, reduceCaps(caps, journal));
  return { plan, gate: createExportGate(allowed, io, await openExportMemory(lake, io)) };
}

/** Reads the plan, and limits the client to its rate (section 8) and to the calls that are left. */
export async function fetchAllowance(client: ApiClient, budget: Budget, caps: RunCaps = {}) {
  const plan = await fetchPlan(client);
  const allowed = allowance(plan, budget, caps);
  limitClient(client, plan, allowed);
  return { plan, allowed };
}

function limitClient(client: ApiClient, plan: SeenPlan, allowed: Allowance): void {
  client.setRate(plan.limits.ratePerSecond ?? null);
  const calls = allowed.calls === undefined ? null : Number(countLeft(allowed.calls));
  client.setCallLimit(calls, (made) => refuseCall(allowed, made));
}

/** The service's count of this month; null for an operator's token. */
export function pickUsage({ usage }: Pick<SeenPlan, 'usage'>) {
  if (usage === undefined || usage === null) return null;
  const { apiCalls, exportRows, resetsAt } = usage;
  return { apiCalls, exportRows, resetsAt };
}

/** Subtracts what earlier tries took, because a run's caps hold for all its tries. */
function reduceCaps({ maxRows, maxOverage }: RunCaps, journal: Pick<Journal, 'entries'>): RunCaps {
  const { taken, blocks } = foldProgress(journal.entries).exports;
  return {
    maxRows: maxRows === undefined ? undefined : Math.max(0, maxRows - Number(taken)),
    maxOverage: maxOverage === undefined ? undefined : Math.max(0, maxOverage - Number(blocks)),
  };
}

/** Only `false` means no feed: null and absent limits are unlimited. */
export function hasFeed(plan: SeenPlan): boolean {
  return plan.limits.changeFeed !== false;
}
