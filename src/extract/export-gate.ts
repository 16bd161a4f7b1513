import type { Io } from '../io.js';
import type { Allowance } from './allowance.js';
import { countOverage, refuseExport, type TakenExport, takeExport } from './export-allowance.js';

/** Stands before the exports of a run: each is let through or refused, and what it took is off what is left. */
export interface ExportGate {
  /** What may still be taken. */
  left(): Allowance;
  /** Throws `budget` or `quota` when an export of so many rows may not be asked for. */
  require(rows: bigint): void;
  /** Takes off an export as its headers tell. Returns the blocks of overage that it billed at most. */
  take(taken: TakenExport): bigint;
}

/** A gate for one run. Overage that nobody agreed to closes it: what was paid for is kept, no other export begins. */
export function createExportGate(allowance: Allowance, io: Io): ExportGate {
  let left = allowance;
  return {
    left: () => left,
    require(rows) {
      const refusal = refuseExport(left, rows);
      if (refusal !== undefined) throw refusal;
    },
    take(taken) {
      const known = countOverage(left, taken.rows);
      const blocks = taken.overage && known === 0n ? 1n : taken.overage ? known : 0n;
      if (left.blocks !== null && blocks > left.blocks) {
        io.log('warn', 'export.overage_not_agreed', { rows: taken.rows, blocks, agreed: left.blocks });
      }
      left = takeExport(left, taken);
      return blocks;
    },
  };
}

/** What the headers of an export say that it took (section 4). */
export function readTakenExport(headers: Record<string, string>, rows: bigint): TakenExport {
  const remaining = headers['x-export-rows-remaining'] ?? '';
  const overage = headers['x-export-overage'] === 'true';
  return { rows, overage, ...(/^\d{1,18}$/.test(remaining) ? { remaining: BigInt(remaining) } : {}) };
}
