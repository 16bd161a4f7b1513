import * as z from 'zod';
import { type ApiClient, type ClientOptions, createClient } from '../../api/client.js';
import { parseExactJson } from '../../api/exact-json.js';
import { int64 } from '../../api/wire-types.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import type { LakeMemory } from '../../journal/memory.js';
import { listSelectedParts } from '../../source/dataset-client.js';
import type { DatasetSelection } from '../../tables/table.js';
import { type AccountPlan, accountPlan, fetchAccountPlan } from './account.js';

const recent = z.looseObject({ changes: z.array(z.looseObject({ id: int64, observedAt: z.string() })) });

export interface ServiceState {
  plan: AccountPlan;
  /** The newest change in the feed; undefined if the feed is empty or the plan doesn't include the feed. */
  newest: { id: bigint; observedAt: string } | undefined;
}

/** Requests the account's plan, and the newest change of the feed or of each listed dataset's feed (API §4). */
export async function askService(
  service: Omit<ClientOptions, 'signal'>,
  selection: DatasetSelection,
  io: Io,
  signal: AbortSignal,
): Promise<ServiceState> {
  const client = createClient({ ...service, signal }, io);
  try {
    const plan = await fetchAccountPlan(client);
    client.setRate(plan.limits.ratePerSecond ?? null);
    let newest: ServiceState['newest'];
    for (const part of listSelectedParts(client, selection)) {
      const change = await readNewest(part.client);
      if (change !== undefined && (newest === undefined || change.id > newest.id)) newest = change;
    }
    return { plan, newest };
  } finally {
    await client.close();
  }
}

async function readNewest(client: ApiClient): Promise<ServiceState['newest']> {
  const page = await client.json('/changes/recent', { limit: 1 }, recent).catch((error: unknown) => {
    if (error instanceof PricelakeError && error.code === 'plan_refuses') return undefined;
    throw error;
  });
  const [change] = page?.changes ?? [];
  return change === undefined ? undefined : { id: change.id, observedAt: change.observedAt };
}

/** Returns the account's plan as the last run saved it, or undefined if this version of pricelake can't read it. */
export function recallAccountPlan({ plan: seen }: LakeMemory): { seenAt: Date; plan: AccountPlan } | undefined {
  if (seen === undefined) return undefined;
  try {
    return { seenAt: seen.seenAt, plan: accountPlan.parse(parseExactJson(seen.text)) };
  } catch {
    return undefined;
  }
}
