import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../api/account-contract.js';
import { parseExactJson } from '../api/exact-json.js';
import type { LakeMemory, Memory } from '../journal/memory.js';

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

/** The plan that a run saw last; undefined before the first run, or if another version wrote it. */
export function recallPlan({ plan: seen }: LakeMemory): RememberedPlan | undefined {
  if (seen === undefined) return undefined;
  try {
    return { seenAt: seen.seenAt, plan: seenPlan.parse(parseExactJson(seen.text)) };
  } catch {
    return undefined;
  }
}
