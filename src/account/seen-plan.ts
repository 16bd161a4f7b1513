import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import type { LakeMemory, Memory } from '../journal/memory.js';

/** A service may leave out what is null, and have a status that is new: a run needs the limits. */
export const seenPlan = planInfo
  .extend({ status: z.string().nullable() })
  .partial({ status: true, trialEndsAt: true, usage: true });

/** The plan as the service sent it (section 2, PlanInfo). */
export type SeenPlan = z.output<typeof seenPlan>;

/** A plan, and when the service sent it. */
export interface RememberedPlan {
  seenAt: Date;
  plan: SeenPlan;
}

/** Keeps what the service said of the plan, so that a status can show what is left without a call. */
export function rememberPlan(memory: Memory, plan: SeenPlan, seenAt: Date): Promise<void> {
  return memory.append({ type: 'plan', seenAt: seenAt.toISOString(), text: stringify(plan) ?? '' });
}

/** The plan as a run saw it last; undefined before the first run, and where another version wrote it. */
export function recallPlan({ plan: seen }: LakeMemory): RememberedPlan | undefined {
  if (seen === undefined) return undefined;
  try {
    return { seenAt: seen.seenAt, plan: seenPlan.parse(parseExactJson(seen.text)) };
  } catch {
    return undefined;
  }
}
