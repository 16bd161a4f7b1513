import { PricelakeError } from '../errors/errors.js';
import type { RunCaps } from '../plan/allowance.js';

/** Options of commands that take, or plan, what costs. */
export const MAX_ROWS = {
  type: 'string',
  requiresArg: true,
  describe: 'Export rows that this run may take, at most',
} as const;
export const MAX_OVERAGE = {
  type: 'string',
  requiresArg: true,
  describe: 'Started blocks of 10,000 rows beyond the quota that this run may bill, instead of budget.overage',
} as const;

/** Throws `usage` for what is no whole number. */
export function readCaps(argv: { 'max-rows'?: string; 'max-overage'?: string }): RunCaps {
  return {
    maxRows: readCount('--max-rows', argv['max-rows']),
    maxOverage: readCount('--max-overage', argv['max-overage']),
  };
}

function readCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new PricelakeError('usage', `${flag} ${text} is not a whole number`);
}
