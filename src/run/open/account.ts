import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../../api/account-contract.js';
import type { ApiClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';
import { type Counted, countBetween } from '../../journal/calls.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { RunProgress } from '../../journal/run-state.js';
import { sumSources } from '../../journal/sources.js';
import { type Budget, countLeft, findAllowance, type RunCaps, refuseCall } from '../../plan/allowance.js';
import { openExportMemory } from '../../plan/broken-exports.js';
import { ExportGate } from '../../plan/export-gate.js';
import { skipSample } from '../../source/allow-skipping.js';

/** The schema of the /plan response. Accepts unknown statuses and missing fields if runs don't need them. */
export const accountPlan = planInfo
  .extend({ status: z.string().nullable() })
  .partial({ status: true, trialEndsAt: true, usage: true });

/** The account's plan (API §2, PlanInfo). */
export type AccountPlan = z.output<typeof accountPlan>;

/** The parts of a run that are needed to read the account. */
interface Caller {
  client: ApiClient;
  io: Io;
  landing: Landing;
  pipeline: { budget: Budget; source: { baseUrl: string; export: string } };
  caps: RunCaps;
  memory: Pick<Memory, 'state' | 'append'>;
}

export interface Account {
  plan: AccountPlan;
  gate: ExportGate;
}

export function fetchAccountPlan(client: ApiClient): Promise<AccountPlan> {
  return client.json('/plan', {}, accountPlan);
}

/** Like `openAccount`, but also journals the service's usage count, and saves the plan for the `status` command. */
export async function readAccount(run: Caller): Promise<Account> {
  const { landing, memory, io, client } = run;
  const account = await openAccount(run, landing.journal.state);
  const { plan } = account;
  const from = new URL(run.pipeline.source.baseUrl).href;
  await memory.append({ type: 'plan', seenAt: io.now().toISOString(), text: stringify(plan) ?? '', from });
  const counted = pickUsage(plan);
  await landing.journal.append({ type: 'usage.before', counted, calls: client.calls() });
  io.log('info', 'plan', { plan: plan.plan, status: plan.status, ...counted });
  return account;
}

/**
 * Reads the plan, limits the client's calls, and opens the gate that permits exports. Rows and overage blocks used by
 * earlier attempts of the run count against the limits in `caps`.
 */
export async function openAccount(
  { client, io, memory, pipeline, caps: { maxRows, maxOverage, onExport } }: Omit<Caller, 'landing'>,
  { exports: { taken, blocks } }: RunProgress,
): Promise<Account> {
  const { plan, allowance } = await limitClient(client, pipeline.budget, {
    maxRows: maxRows === undefined ? undefined : Math.max(0, maxRows - Number(taken)),
    maxOverage: maxOverage === undefined ? undefined : Math.max(0, maxOverage - Number(blocks)),
  });
  const { share } = pipeline.budget;
  const note: RunCaps['onExport'] = (rows, blocks) => {
    share?.noteExport(rows, blocks);
    onExport?.(rows, blocks);
  };
  return { plan, gate: new ExportGate(allowance, io, openExportMemory(memory, io, pipeline.source.export), note) };
}

/** Reads the plan. Limits the client to the plan's request rate (API §8), and to the calls that remain. */
export async function limitClient(client: ApiClient, budget: Budget, caps: RunCaps = {}) {
  const plan = await fetchAccountPlan(client);
  const allowance = findAllowance(plan, budget, caps);
  client.setRate(plan.limits.ratePerSecond ?? null);
  const calls = allowance.calls === undefined ? null : Number(countLeft(allowance.calls));
  client.setCallLimit(calls, (made) => refuseCall(allowance, made));
  return { plan, allowance };
}

/** Returns the service's usage counts for this month, or null if the service doesn't count the token's usage. */
export function pickUsage({ usage }: Pick<AccountPlan, 'usage'>): Counted {
  if (usage === undefined || usage === null) return null;
  const { apiCalls, exportRows, resetsAt } = usage;
  return { apiCalls, exportRows, resetsAt };
}

/** True unless the plan excludes the change feed. A null or missing limit means unlimited. */
export function hasFeed(plan: AccountPlan): boolean {
  return plan.limits.changeFeed !== false;
}

/** The run's calls and export rows as the service has counted them; null if unknown. */
export interface Usage {
  usage_calls: bigint | null;
  usage_export_rows: bigint | null;
}

export const NO_USAGE: Usage = { usage_calls: null, usage_export_rows: null };

/** A run without exports skips the call for the service's usage count if it has made fewer calls than this. */
const LEAST_CALLS = 40;

/**
 * Requests the plan again (API §4) after all other calls, to compare the service's usage count with the run's own
 * count. Skips this request if no call is left, or if the run made few calls and no export.
 */
export async function countUsage(run: Pick<Caller, 'client' | 'io' | 'landing'>): Promise<Usage> {
  const { client, io, landing } = run;
  const { journal } = landing;
  const { usage, calls, exports, sources } = journal.state;
  if (usage.after === undefined) {
    const isWorthIt = usage.before !== null && isCountWorthIt(calls.made, exports.begun > 0);
    const plan = isWorthIt
      ? await fetchAccountPlan(client).catch((error: unknown) => skipSample(error, io))
      : undefined;
    const counted = plan === undefined ? null : pickUsage(plan);
    await journal.append({ type: 'usage.after', counted, calls: client.calls() });
    io.log('debug', 'usage', { ...counted });
  }
  const counted = countBetween(usage.before ?? null, journal.state.usage.after ?? null);
  if (counted === undefined) return NO_USAGE;
  return { usage_calls: counted.calls + sumSources(sources).counted, usage_export_rows: counted.exportRows };
}

export function isCountWorthIt(calls: number, hasExport: boolean): boolean {
  return hasExport || calls >= LEAST_CALLS;
}
