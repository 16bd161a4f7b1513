import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../api/account-contract.js';
import type { ApiClient } from '../api/client.js';
import { parseExactJson } from '../api/exact-json.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import type { LakeMemory, Memory } from '../journal/memory.js';
import type { RunProgress } from '../journal/run-state.js';
import { type Allowance, allowance, type Budget, countLeft, type RunCaps, refuseCall } from '../plan/allowance.js';
import { openExportMemory } from '../plan/broken-exports.js';
import { createExportGate, type ExportGate } from '../plan/export-gate.js';

/** The parts of a run that ask the service and note its answers about the account. */
export interface Caller {
  client: ApiClient;
  io: Io;
  landing: Landing;
}

/** Bounds of a run beside the plan. */
interface Bounds {
  pipeline: { budget: Budget };
  caps: RunCaps;
}

/** The lake's memory of broken exports. */
interface Remembering {
  memory: Pick<Memory, 'state' | 'append'>;
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
export async function readPlan(run: Caller & Bounds & { memory: Memory }): Promise<PlannedRun> {
  const { journal } = run.landing;
  const planned = await openPlan(run, journal.state);
  await rememberPlan(run.memory, planned.plan, run.io.now());
  const counted = pickUsage(planned.plan);
  await journal.append({ type: 'usage.before', counted, calls: run.client.calls() });
  run.io.log('info', 'plan', { plan: planned.plan.plan, status: planned.plan.status, ...counted });
  return planned;
}

/** Reads the plan and opens the gate for exports. What earlier tries of the run took counts against its caps. */
export async function openPlan(
  { client, io, memory, pipeline, caps }: Pick<Caller, 'client' | 'io'> & Bounds & Remembering,
  progress: RunProgress,
): Promise<PlannedRun> {
  const { plan, allowed } = await fetchAllowance(client, pipeline.budget, reduceCaps(caps, progress));
  return { plan, gate: createExportGate(allowed, io, openExportMemory(memory, io)) };
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
export function reduceCaps({ maxRows, maxOverage }: RunCaps, { exports }: RunProgress): RunCaps {
  const { taken, blocks } = exports;
  return {
    maxRows: maxRows === undefined ? undefined : Math.max(0, maxRows - Number(taken)),
    maxOverage: maxOverage === undefined ? undefined : Math.max(0, maxOverage - Number(blocks)),
  };
}

/** Only `false` means no feed: null and absent limits are unlimited. */
export function hasFeed(plan: SeenPlan): boolean {
  return plan.limits.changeFeed !== false;
}

/** Accepts missing nulls and unknown statuses, because a run needs only the limits. */
export const seenPlan = planInfo
  .extend({ status: z.string().nullable() })
  .partial({ status: true, trialEndsAt: true, usage: true });

/** Section 2, PlanInfo. */
export type SeenPlan = z.output<typeof seenPlan>;

/** A plan, and when the service sent it. */
export interface RememberedPlan {
  seenAt: Date;
  plan: SeenPlan;
}

/** Keeps the plan, so that `status` can show what is left without a call. */
export function rememberPlan(memory: Memory, plan: SeenPlan, seenAt: Date): Promise<void> {
  return memory.append({ type: 'plan', seenAt: seenAt.toISOString(), text: stringify(plan) ?? '' });
}

/** The plan that the last run saw; undefined before the first run, or if another version wrote it. */
export function recallPlan({ plan: seen }: LakeMemory): RememberedPlan | undefined {
  if (seen === undefined) return undefined;
  try {
    return { seenAt: seen.seenAt, plan: seenPlan.parse(parseExactJson(seen.text)) };
  } catch {
    return undefined;
  }
}
