import type { Io } from '../io/io.js';
import type { Allowance } from './allowance.js';
import { type ExportMemory, NO_MEMORY } from './broken-exports.js';
import { countOverage, refuseExport, type TakenExport, takeExport } from './export-allowance.js';

/** Stands before the exports of a run: each is let through or refused, and what it took is off what is left. */
export interface ExportGate {
  /** Exports that broke off in the runs before. */
  memory: ExportMemory;
  /** What may still be taken, less what exports under way may take. */
  left(): Allowance;
  /** Throws `budget` or `quota` when an export of so many rows may not be asked for. */
  require(rows: bigint): void;
  /** The same, and holds the rows for the export: side by side, exports may not pass together what each may alone. */
  hold(rows: bigint): Hold;
  /** Deducts an export by its headers. Returns the most blocks of overage that it may have billed. */
  take(taken: TakenExport): bigint;
}

/** Rows that an export which was let through may take. */
export interface Hold {
  /** The headers say what it takes: nothing more is held. */
  take(taken: TakenExport): bigint;
  /** It took nothing: nothing is held. A second call does nothing. */
  release(): void;
}

/** A gate for one run. Overage that nobody agreed to closes it: what was paid for is kept, no other export begins. */
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
      // The service may already have deducted exports under way: these count once their headers arrive.
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

/** What the headers of an export say that it took (section 4). A cut one says that nothing is left, whatever else. */
export function readTakenExport(headers: Record<string, string>, rows: bigint): TakenExport {
  const remaining = readCut(headers) === undefined ? (headers['x-export-rows-remaining'] ?? '') : '0';
  const overage = isTrue(headers['x-export-overage']);
  return { rows, overage, ...(/^\d{1,18}$/.test(remaining) ? { remaining: BigInt(remaining) } : {}) };
}

/** How many rows matched, where the service cut the export at the monthly limit; undefined where it did not. */
export function readCut(headers: Record<string, string>): string | undefined {
  return isTrue(headers['x-export-truncated']) ? (headers['x-export-matching'] ?? 'more') : undefined;
}

/** Some services send a false header always, some none; and boolean texts have capitals in some languages. */
function isTrue(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}
