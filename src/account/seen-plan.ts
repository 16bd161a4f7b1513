import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'lossless-json';
import * as z from 'zod';
import { planInfo } from '../api/account-contract.js';
import { parseExactJson } from '../api/exact-json.js';
import { writeDurably } from '../lake/durable.js';
import type { Lake } from '../lake/lake.js';

/** A service may leave out what is null, and have a status that is new: a run needs the limits. */
export const seenPlan = planInfo
  .extend({ status: z.string().nullable() })
  .partial({ status: true, trialEndsAt: true, usage: true });

/** The plan as the service sent it (section 2, PlanInfo). */
export type SeenPlan = z.output<typeof seenPlan>;

const remembered = z.strictObject({ seenAt: z.iso.datetime().transform((text) => new Date(text)), plan: seenPlan });

/** A plan, and when the service sent it. */
export interface RememberedPlan {
  seenAt: Date;
  plan: SeenPlan;
}

const planPath = ({ root }: Lake) => path.join(root, '_pricelake', 'plan.json');

/** Keeps what the service said of the plan, so that a status can show what is left without a call. */
export async function rememberPlan(lake: Lake, plan: SeenPlan, seenAt: Date): Promise<void> {
  await writeDurably(lake, planPath(lake), `${stringify({ seenAt: seenAt.toISOString(), plan })}\n`);
}

/** The plan as a run saw it last; undefined before the first run, and where the file is of another version. */
export async function recallPlan(lake: Lake): Promise<RememberedPlan | undefined> {
  const text = await readFile(planPath(lake), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return remembered.parse(parseExactJson(text));
  } catch {
    return undefined;
  }
}
