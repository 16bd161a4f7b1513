import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { type BrokenExport, listBrokenExports, type Memory } from '../journal/memory.js';

export type LostExport = Pick<BrokenExport, 'rows' | 'reason' | 'format'>;

/** True if an export was interrupted. Another attempt may complete it. */
export function isBreak(error: unknown): error is PricelakeError {
  return error instanceof PricelakeError && (error.code === 'snapshot_incomplete' || error.facts.midStream === true);
}

/** True if the error ended an export whose rows may be billed although the run can't use them. */
export function isLoss(error: unknown): error is PricelakeError {
  return isBreak(error) || (error instanceof PricelakeError && error.code === 'contract');
}

const HOUR_MS = 3600 * 1000;
/** The maximum pause between attempts. Runs never stop trying, because the service may recover. */
const LONGEST_WAIT_MS = 7 * 24 * HOUR_MS;

/** Returns when to try again: at once after the first failed run, then after 1, 2, 4… hours, up to 7 days. */
export function findRetryAt({ runs, at }: Pick<BrokenExport, 'runs' | 'at'>): Date {
  const waitMs = runs < 2 ? 0 : Math.min(LONGEST_WAIT_MS, HOUR_MS * 2 ** (runs - 2));
  return new Date(at.getTime() + waitMs);
}

/**
 * Returns how many attempts a run may make: `usual` attempts, or one if an earlier run failed. Returns 0 if it is too
 * early for another attempt, or if the service uses a format that pricelake can't parse.
 */
export function countAttempts(broken: BrokenExport | undefined, usual: number, now: Date): number {
  if (broken === undefined) return usual;
  if (broken.format !== undefined) return 0;
  // If the failure's time is in the future, a clock was wrong. The time is then ignored.
  const isDue = now >= findRetryAt(broken) || now < broken.at;
  return isDue ? 1 : 0;
}

export function refuseBroken(broken: BrokenExport): PricelakeError {
  if (broken.format !== undefined) return new PricelakeError('contract', explainBroken(broken), { hint: NEVER_AGAIN });
  const nextRunAt = findRetryAt(broken);
  return new PricelakeError('snapshot_incomplete', explainBroken(broken), {
    nextRunAt,
    brokenRuns: broken.runs,
    hint: 'Wait until then, or raise budget.calls, so that pricelake can read pages of /items instead.',
  });
}

const NEVER_AGAIN =
  'Set source.export to ndjson in the pipeline file. No export was requested, so nothing was charged.';

export function explainBroken(broken: BrokenExport): string {
  const { name, runs, rows, at, reason, format } = broken;
  if (format !== undefined) {
    return `${reason}; export ${name} announced ${rows} rows at ${at.toISOString()}; pricelake won't request ${format} exports again, so set source.export to ndjson`;
  }
  const inRuns = runs === 1 ? 'one run' : `${runs} runs`;
  return `export ${name} was interrupted in ${inRuns}, last at ${at.toISOString()} (${rows} rows announced in total); pricelake will retry it from ${findRetryAt(broken).toISOString()}`;
}

export interface ExportMemory {
  list(): BrokenExport[];
  /** Records a failed export durably. Call it when a run has used all its attempts. */
  note(name: string, lost: LostExport): Promise<BrokenExport>;
  /** Deletes the record. Call it when the export has succeeded. */
  forget(name: string): Promise<void>;
}

const CHANGED = 'changed-items';

export function nameChangedExport(dataset: bigint | undefined): string {
  return dataset === undefined ? CHANGED : `dataset-${dataset}-${CHANGED}`;
}

/** Returns the failed export of a dataset's changed items if it must wait for its next attempt. */
export function findBrokenChanged(
  { list }: ExportMemory,
  now: Date,
  dataset: bigint | undefined,
): BrokenExport | undefined {
  return findWaiting(list(), now, (name) => name === nameChangedExport(dataset));
}

/** Returns a failed export of a complete copy that must wait for its next attempt. @param shards the copy's shards */
export function findBrokenCopy(
  broken: readonly BrokenExport[],
  now: Date,
  shards?: readonly string[],
): BrokenExport | undefined {
  return findWaiting(broken, now, (name) => !name.endsWith(CHANGED) && shards?.includes(name) !== false);
}

function findWaiting(
  broken: readonly BrokenExport[],
  now: Date,
  isWanted: (name: string) => boolean,
): BrokenExport | undefined {
  return broken.find((one) => (isWanted(one.name) || one.format !== undefined) && countAttempts(one, 1, now) === 0);
}

const REASON_LENGTH = 300;

/** Stores failed exports in the lake's saved state. @param wanted the format in which this run requests exports */
export function openExportMemory(memory: Pick<Memory, 'state' | 'append'>, io: Io, wanted: string): ExportMemory {
  return {
    list: () => listBrokenExports(memory.state).filter(({ format = wanted }) => format === wanted),
    async note(name, { rows, reason, format }) {
      const before = memory.state.broken.get(name);
      const one = {
        name,
        runs: (before?.runs ?? 0) + 1,
        rows: (before?.rows ?? 0n) + rows,
        at: io.now(),
        reason: reason.slice(0, REASON_LENGTH),
        ...(format === undefined ? {} : { format }),
      };
      await memory.append({ type: 'broken', ...one, at: one.at.toISOString() });
      return one;
    },
    async forget(name) {
      if (memory.state.broken.has(name)) await memory.append({ type: 'whole', name });
    },
  };
}
