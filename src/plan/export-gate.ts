import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Allowance, RunCaps } from './allowance.js';
import type { ExportMemory } from './broken-exports.js';
import { countOverage, refuseExport, type TakenExport, takeExport } from './export-allowance.js';

interface Hold {
  take(taken: TakenExport): bigint;
  /** Releases the reserved rows if the export used none. Calling it again has no effect. */
  release(): void;
}

/**
 * Admits or rejects the exports of a run, and deducts their cost. If the service bills overage that the user didn't
 * allow, the rows are kept, but no further export starts.
 */
export class ExportGate {
  readonly memory: ExportMemory;
  readonly #io: Io;
  readonly #held = new Set<{ rows: bigint }>();
  readonly #onExport: NonNullable<RunCaps['onExport']>;
  #left: Allowance;

  constructor(allowance: Allowance, io: Io, memory: ExportMemory, onExport: RunCaps['onExport'] = () => {}) {
    this.#left = allowance;
    this.#io = io;
    this.memory = memory;
    this.#onExport = onExport;
  }

  /** Returns the remaining allowance, minus the rows reserved for running exports. */
  left(): Allowance {
    return [...this.#held].reduce((rest, { rows }) => takeExport(rest, { rows, overage: false }), this.#left);
  }

  /** Throws `budget` or `quota` if an export of `rows` rows isn't allowed. */
  require(rows: bigint): void {
    const refusal = refuseExport(this.left(), rows);
    if (refusal !== undefined) throw refusal;
  }

  /** Like `require`, but also reserves the rows, so that parallel exports together can't exceed the allowance. */
  hold(rows: bigint): Hold {
    this.require(rows);
    const own = { rows };
    this.#held.add(own);
    const release = () => void this.#held.delete(own);
    const take = (taken: TakenExport) => {
      release();
      return this.take(taken);
    };
    return { take, release };
  }

  /** Deducts an export by its headers. Returns the maximum number of overage blocks that may have been billed. */
  take({ remaining, ...cost }: TakenExport): bigint {
    // The service may already have deducted running exports, which are deducted here when their headers arrive.
    const held = [...this.#held].reduce((sum, { rows }) => sum + rows, 0n);
    const taken = remaining === undefined ? cost : { ...cost, remaining: remaining + held };
    const known = countOverage(this.#left, taken.rows);
    const blocks = taken.overage && known === 0n ? 1n : taken.overage ? known : 0n;
    const { blocks: agreed } = this.#left;
    if (agreed !== null && blocks > agreed) {
      this.#io.log('warn', 'export.overage_not_agreed', { rows: taken.rows, blocks, agreed });
    }
    this.#left = takeExport(this.#left, taken);
    this.#onExport(taken.rows, blocks);
    return blocks;
  }
}

/** Reads an export's cost from its headers (API §4). After a truncated export, no rows are left. */
export function readTakenExport(headers: Record<string, string>, rows: bigint): TakenExport {
  const remaining = readCut(headers, rows) === undefined ? (headers['x-export-rows-remaining'] ?? '') : '0';
  const overage = isFlagged(headers['x-export-overage']);
  return { rows, overage, ...(/^\d{1,18}$/.test(remaining) ? { remaining: BigInt(remaining) } : {}) };
}

/**
 * Returns the X-Export-Matching header of an export that the service truncated at the monthly limit; undefined if it is
 * complete. If X-Export-Matching differs from `rows`, the export counts as truncated, whatever X-Export-Truncated says.
 */
export function readCut(headers: Record<string, string>, rows: bigint): string | undefined {
  const matching = headers['x-export-matching']?.trim() || undefined;
  const contradicts = matching !== undefined && /^\d{1,18}$/.test(matching) && BigInt(matching) !== rows;
  return contradicts || isFlagged(headers['x-export-truncated']) ? (matching ?? 'more') : undefined;
}

/** False for a missing header or an explicit false. Services also write true as `True`, `1` or `yes`. */
function isFlagged(header: string | undefined): boolean {
  return !['', 'false', '0', 'no'].includes(header?.trim().toLowerCase() ?? '');
}

/** Reads X-Export-Rows (API §4, /export). @throws PricelakeError `contract` if it isn't a whole number */
export function readExportRows(headers: Record<string, string>): bigint {
  const text = headers['x-export-rows'] ?? '';
  if (!/^\d{1,18}$/.test(text)) {
    throw new PricelakeError(
      'contract',
      `/export: header X-Export-Rows is "${text}" but must be a whole number, because pricelake uses it to detect truncated exports`,
      { hint: 'Check source.baseUrl, and that no proxy removes headers.' },
    );
  }
  return BigInt(text);
}
