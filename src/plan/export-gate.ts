import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Allowance, RunCaps } from './allowance.js';
import type { ExportMemory } from './broken-exports.js';
import { countOverage, refuseExport, type TakenExport, takeExport } from './export-allowance.js';

interface Hold {
  take(taken: TakenExport): bigint;
  /** Releases the reserved rows of an export that was not made. Calling it again has no effect. */
  release(): void;
}

/**
 * Admits or rejects the exports of a run, and subtracts their cost from the allowance. If the service bills overage
 * that the user didn't allow, the run keeps these rows, but the gate admits no other export.
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

  /** Returns the remaining allowance, without the rows that are reserved for exports in progress. */
  left(): Allowance {
    return [...this.#held].reduce((rest, { rows }) => takeExport(rest, { rows, overage: false }), this.#left);
  }

  /** Throws `budget` or `quota` if the allowance doesn't suffice for an export of `rows` rows. */
  require(rows: bigint): void {
    const refusal = refuseExport(this.left(), rows);
    if (refusal !== undefined) throw refusal;
  }

  /** Like `require`, but also reserves the rows, so that parallel exports don't exceed the allowance. */
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

  /** Subtracts an export, given its headers. Returns the maximum number of overage blocks that may have been billed. */
  take({ remaining, ...cost }: TakenExport): bigint {
    // The service may have subtracted exports in progress, which this gate subtracts when they end. Adds their rows.
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

/** Reads the cost of an export from its headers (API §4). A truncated export has used up the month's rows. */
export function readTakenExport(headers: Record<string, string>, rows: bigint): TakenExport {
  const remaining = readCut(headers, rows) === undefined ? (headers['x-export-rows-remaining'] ?? '') : '0';
  const overage = isFlagged(headers['x-export-overage']);
  return { rows, overage, ...(/^\d{1,18}$/.test(remaining) ? { remaining: BigInt(remaining) } : {}) };
}

/**
 * Returns the header X-Export-Matching if the service truncated the export at the monthly limit, or undefined if the
 * export is complete. If X-Export-Matching differs from `rows`, the export is treated as truncated, whatever
 * X-Export-Truncated says.
 */
export function readCut(headers: Record<string, string>, rows: bigint): string | undefined {
  const matching = headers['x-export-matching']?.trim() || undefined;
  const contradicts = matching !== undefined && /^\d{1,18}$/.test(matching) && BigInt(matching) !== rows;
  return contradicts || isFlagged(headers['x-export-truncated']) ? (matching ?? 'more') : undefined;
}

/** True unless the header is missing or says false. Some services write true as `True`, `1` or `yes`. */
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
