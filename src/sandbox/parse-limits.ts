import * as z from 'zod';
import { PricelakeError } from '../errors/errors.js';
import { type PlanLimits, planLimits } from './plans.js';

const limits = planLimits.partial();

/**
 * `apiCallsPerMonth=100`, `ratePerSecond=null`, `changeFeed=false` → limits by the names of section 8.
 * @throws PricelakeError `usage` that names the limit and what is allowed
 */
export function parseLimits(specs: readonly string[]): Partial<PlanLimits> {
  const entries = specs.map((spec) => {
    const [, name, value] = /^(\w+)=(\S+)$/.exec(spec) ?? [];
    if (name === undefined || value === undefined) throw refuse(spec, 'NAME=VALUE is expected');
    if (!(name in planLimits.shape)) throw refuse(spec, `limits are ${Object.keys(planLimits.shape).join(', ')}`);
    const parsed = limits.safeParse({ [name]: readValue(value) });
    if (!parsed.success) throw refuse(spec, z.prettifyError(parsed.error).replaceAll('\n', ' '));
    return [name, readValue(value)];
  });
  return limits.parse(Object.fromEntries(entries)) as Partial<PlanLimits>;
}

function readValue(text: string): unknown {
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function refuse(spec: string, reason: string): PricelakeError {
  return new PricelakeError('usage', `limit '${spec}': ${reason}`);
}
