import { PricelakeError } from '../errors/errors.js';
import type { RunCaps } from '../plan/allowance.js';

/** Options of commands that spend calls and rows, or plan to. */
export const MAX_ROWS = {
  type: 'string',
  requiresArg: true,
  describe: 'Most export rows that this run may use',
} as const;
export const MAX_OVERAGE = {
  type: 'string',
  requiresArg: true,
  describe: 'Started blocks of 10,000 rows beyond the quota that this run may bill; overrides budget.overage',
} as const;

/** @throws PricelakeError `usage` unless each is a whole number */
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
