import { ITEMS_A_PAGE } from '../api/contract.js';
import { countOf } from '../formats/count.js';
import { PricelakeError } from '../io/errors.js';
import { type Allowance, countCallsLeft, RESERVED_CALLS } from './allowance.js';
import { countPages } from './count-pages.js';
import { refuseExport } from './export-allowance.js';

export interface CopyFacts {
  items: bigint;
  /** The number of datasets that are read separately, each with its own pages; defaults to 1. */
  parts?: number;
  exportRows: bigint;
  allowance: Allowance;
  /** The number of calls that this process has made, including those since `allowance` was read. */
  callsMade: bigint;
  pagesLanded: bigint;
  /** The error of an export in this attempt that the service truncated because the monthly limit was reached. */
  cut?: PricelakeError | undefined;
  /** The error of a failed export that must wait for its next attempt. */
  broken?: PricelakeError | undefined;
}

/**
 * Describes how all items are copied: by exports, or by pages of 500 items (API §4, /items). `thisMonth` is false if
 * reading the pages takes several months. If the copy must wait, `refusal` explains why, and until when.
 */
export type CopyChoice =
  | { route: 'export' | 'pages'; reason: string; thisMonth: boolean }
  | { route: 'wait'; refusal: PricelakeError };

/**
 * Continues with pages if some have landed and enough calls are left. Otherwise prefers exports, which need fewer
 * calls, if they are allowed. Otherwise chooses pages if enough calls are left, or if an export wouldn't be allowed
 * next month either. In all other cases, the copy waits.
 */
export function chooseCopy(copy: CopyFacts): CopyChoice {
  const { items, parts = 1, exportRows, allowance, callsMade, pagesLanded, cut, broken } = copy;
  const { calls } = allowance;
  const pages = BigInt(countPages(items, ITEMS_A_PAGE)) + BigInt(parts) - 1n;
  const missing = pages > pagesLanded ? pages - pagesLanded : 1n;
  const callsLeft = countCallsLeft(allowance, callsMade);
  const fitsNow = callsLeft === null || missing + RESERVED_CALLS <= callsLeft;
  if (pagesLanded > 0n && fitsNow) return byPages(`${countOf(missing, 'page')} left to read`, true);
  const refusal = cut ?? broken ?? refuseExport(allowance, exportRows);
  if (refusal === undefined) return { route: 'export', reason: 'an export is allowed', thisMonth: true };
  const { message, code, facts } = refusal;
  if (fitsNow) return byPages(`${message}; reading ${countOf(missing, 'page')} of /items gives the same data`, true);
  const isSoonAllowed = refuseExport(renew(allowance), exportRows) === undefined;
  if (calls?.monthly === true && !isSoonAllowed && callsLeft > RESERVED_CALLS) {
    return byPages(
      `${message}; reading ${countOf(missing, 'page')} of /items gives the same data over several months`,
      false,
    );
  }
  const why = `${message}; reading ${countOf(missing, 'page')} of /items would give the same data, but fewer than the ${RESERVED_CALLS} calls that a run reserves for its other steps would be left (now ${callsLeft})`;
  return { route: 'wait', refusal: new PricelakeError(code, why, facts) };
}

function byPages(reason: string, thisMonth: boolean): CopyChoice {
  return { route: 'pages', reason, thisMonth };
}

function renew(allowance: Allowance): Allowance {
  const { rows, quota } = allowance;
  return {
    ...allowance,
    rows: rows?.monthly === true ? { ...rows, used: 0n } : rows,
    quota: quota === undefined ? undefined : { ...quota, used: 0n },
  };
}
