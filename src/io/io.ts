/** The environment as a parameter. Tests replace the clock, sleep, random and log; everything else stays real. */
export interface Io {
  /** Returns the current time. */
  now(): Date;
  /** Waits. Rejects with the signal's reason when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a random number, uniform in [0, 1). Used only for jitter. */
  random(): number;
  /** Logs an event with a stable name and flat facts, which never contain a secret. */
  log(level: LogLevel, event: string, facts?: Record<string, unknown>): void;
  progress(update: Progress): void;
}

/** `debug` adds every step, `trace` every API call. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** The steps of a run, in order, as named in folders, progress, logs, the lake's saved state and the docs. */
export const RUN_STEPS = ['open', 'plan', 'land', 'apply', 'derive', 'prove', 'publish', 'compact'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** Work outside the steps of a run. `run` is a whole run; the last four values prepare a sandbox or its data. */
type OtherWork = 'run' | 'rebuild' | 'verify' | 'reading' | 'loading' | 'changes' | 'inventing' | 'preparing';

export interface Progress {
  step: RunStep | OtherWork;
  /** Part of the step, such as `snapshot` or `feed` for `land`. */
  part?: string | undefined;
  rows: bigint;
  /** The expected number of rows, if known. */
  totalRows?: bigint | undefined;
  /** True if `totalRows` is only approximate. */
  isEstimate?: boolean;
  bytes: number;
  /** The unit of `rows`. Default rows. */
  unit?: 'rows' | 'items' | 'tables' | 'checks';
  done?: boolean;
  /** Only for `run`, which has no row counts: the duration and rows of earlier runs of the same kind. */
  pace?: { seconds: number; rows: bigint };
}

/** Runs `work` and reports its beginning and end as progress. If it throws, no end is reported. */
export async function reportStep<T>(
  io: Pick<Io, 'progress'>,
  { step, part }: Pick<Progress, 'step' | 'part'>,
  work: () => Promise<T>,
): Promise<T> {
  io.progress({ step, part, rows: 0n, bytes: 0 });
  const result = await work();
  io.progress({ step, part, rows: 0n, bytes: 0, done: true });
  return result;
}

export interface OpenStep {
  add(rows: bigint, bytes: number): void;
  done(): void;
}

export function openStep(
  { progress }: Pick<Io, 'progress'>,
  { step, part, unit = 'rows', totalRows }: Pick<Progress, 'step' | 'part' | 'unit' | 'totalRows'>,
): OpenStep {
  let [rows, bytes] = [0n, 0];
  progress({ step, part, unit, rows, totalRows, bytes });
  return {
    add(moreRows, moreBytes) {
      rows += moreRows;
      bytes += moreBytes;
      progress({ step, part, unit, rows, totalRows, bytes });
    },
    // Reports the expected total as done, because the remaining rows turned out not to be needed.
    done: () => progress({ step, part, unit, rows: totalRows ?? rows, totalRows, bytes, done: true }),
  };
}
