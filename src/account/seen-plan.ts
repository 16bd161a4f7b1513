import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import { writeDurably } from '../lake/durable.js';
import type { Lake } from '../lake/lake.js';

/** Accepts missing nulls and unknown statuses, because a run needs only the limits. */
export const seenPlan = planInfo
  .extend({ status: z.string().nullable() })
  .partial({ status: true, trialEndsAt: true, usage: true });

/** Section 2, PlanInfo. */
export type SeenPlan = z.output<typeof seenPlan>;

const remembered = z.strictObject({ seenAt: z.iso.datetime().transform((text) => new Date(text)), plan: seenPlan });

interface RememberedPlan {
  seenAt: Date;
  plan: SeenPlan;
}

const planPath = ({ root }: Lake) => path.join(root, '_pricelake', 'plan.json');

/** Keeps the plan, so that `status` can show what is left without a call. */
export async function rememberPlan(lake: Lake, plan: SeenPlan, seenAt: Date): Promise<void> {
  await writeDurably(lake, planPath(lake), `${stringify({ seenAt: seenAt.toISOString(), plan })}\n`);
}

/** The plan that a run saw last; undefined before the first run, or if the file is of another version. */
export async function recallPlan(lake: Lake): Promise<RememberedPlan | undefined> {
  const text = await readFile(planPath(lake), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return remembered.parse(parseExactJson(text));
  } catch {
    return undefined;
  }
}
