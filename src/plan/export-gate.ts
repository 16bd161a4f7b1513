import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Allowance } from './allowance.js';
import { type ExportMemory, NO_MEMORY } from './broken-exports.js';
import { countOverage, refuseExport, type TakenExport, takeExport } from './export-allowance.js';

/** Admits or refuses the exports of a run, and deducts their cost. */
export interface ExportGate {
  /** Exports that broke off in earlier runs. */
  memory: ExportMemory;
  /** The allowance left, less the rows of exports under way. */
  left(): Allowance;
  /** Throws `budget` or `quota` if an export of `rows` rows is not allowed. */
  require(rows: bigint): void;
  /** As `require`, and holds the rows, so that exports side by side can't exceed together what each alone may take. */
  hold(rows: bigint): Hold;
  /** Deducts an export by its headers. Returns the most blocks of overage that may have been billed. */
  take(taken: TakenExport): bigint;
}

/** Rows held for an admitted export. */
interface Hold {
  /** Replaces the held rows by the cost that the headers give. */
  take(taken: TakenExport): bigint;
  /** Frees the rows of an export that took nothing. A second call does nothing. */
  release(): void;
}

/**
 * Makes the gate of one run. Overage that nobody agreed to closes it: paid rows are kept, and no other export begins.
 */
export function createExportGate(allowance: Allowance, io: Io, memory: ExportMemory = NO_MEMORY): ExportGate {
  let left = allowance;
  const held = new Set<{ rows: bigint }>();
  const countHeld = () => [...held].reduce((sum, { rows }) => sum + rows, 0n);
  const countLeftNow = () => [...held].reduce((rest, { rows }) => takeExport(rest, { rows, overage: false }), left);
  const gate: ExportGate = {
    memory,
    left: countLeftNow,
    require(rows) {
      const refusal = refuseExport(countLeftNow(), rows);
      if (refusal !== undefined) throw refusal;
    },
    hold(rows) {
      gate.require(rows);
      const own = { rows };
      held.add(own);
      return {
        take(taken) {
          held.delete(own);
          return gate.take(taken);
        },
        release: () => void held.delete(own),
      };
    },
    take({ remaining, ...told }) {
      // The service may already have deducted exports under way, which are deducted here when their headers arrive.
      const taken = remaining === undefined ? told : { ...told, remaining: remaining + countHeld() };
      const known = countOverage(left, taken.rows);
      const blocks = taken.overage && known === 0n ? 1n : taken.overage ? known : 0n;
      if (left.blocks !== null && blocks > left.blocks) {
        io.log('warn', 'export.overage_not_agreed', { rows: taken.rows, blocks, agreed: left.blocks });
      }
      left = takeExport(left, taken);
      return blocks;
    },
  };
  return gate;
}

/** Reads an export's cost from its headers (section 4). A cut export leaves nothing, whatever the other headers say. */
export function readTakenExport(headers: Record<string, string>, rows: bigint): TakenExport {
  const remaining = readCut(headers) === undefined ? (headers['x-export-rows-remaining'] ?? '') : '0';
  const overage = isTrue(headers['x-export-overage']);
  return { rows, overage, ...(/^\d{1,18}$/.test(remaining) ? { remaining: BigInt(remaining) } : {}) };
}

/** Number of matching rows of an export that the service cut at the monthly limit; undefined for a whole one. */
export function readCut(headers: Record<string, string>): string | undefined {
  return isTrue(headers['x-export-truncated']) ? (headers['x-export-matching'] ?? 'more') : undefined;
}

/** Accepts `True`, because some languages write booleans so. */
function isTrue(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}

/** X-Export-Rows (section 4, /export). Throws `contract` without it. */
export function readExportRows(headers: Record<string, string>): bigint {
  const text = headers['x-export-rows'] ?? '';
  if (!/^\d{1,18}$/.test(text)) {
    throw new PricelakeError(
      'contract',
      `/export: header X-Export-Rows is "${text}", not a whole number: without it, a complete export can't be told from a cut one`,
      { hint: 'Check source.baseUrl, and that no proxy removes headers.' },
    );
  }
  return BigInt(text);
}
