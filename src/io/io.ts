/** The parts of the program's environment that tests replace: the clock, sleep, random numbers, log and progress. */
export interface Io {
  /** Returns the current time. */
  now(): Date;
  /** Waits. If the signal aborts, rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a random number in [0, 1). It determines only the length of pauses. */
  random(): number;
  /** Logs an event. Event names are stable. Facts must be neither nested nor secret. */
  log(level: LogLevel, event: string, facts?: Record<string, unknown>): void;
  progress(update: Progress): void;
}

/** Level `debug` adds a log entry for each step. Level `trace` adds a log entry for each API call. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** The steps of a run, in order. Folders, progress, logs, the lake's saved state and the docs use these names. */
export const RUN_STEPS = ['open', 'plan', 'land', 'apply', 'derive', 'prove', 'publish', 'compact'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** Work that isn't a step of a run. `run` is a complete run. The last four names are for a sandbox and its data. */
type OtherWork = 'run' | 'rebuild' | 'verify' | 'reading' | 'loading' | 'changes' | 'generating' | 'preparing';

export interface Progress {
  step: RunStep | OtherWork;
  /** A part of the step, such as `snapshot` or `feed` of the step `land`. */
  part?: string | undefined;
  rows: bigint;
  /** The expected number of rows, if it is known. */
  totalRows?: bigint | undefined;
  /** True if `totalRows` is an estimate. */
  isEstimate?: boolean;
  bytes: number;
  /** The unit of `rows` and `totalRows`; defaults to rows. */
  unit?: 'rows' | 'items' | 'tables' | 'checks';
  done?: boolean;
  /** The duration and row count of earlier runs in the same mode. Set only for `run`, which doesn't count its rows. */
  pace?: { seconds: number; rows: bigint };
}

/** Runs `work`, and reports its start and its end as progress. Reports no end if `work` throws. */
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
    // Reports the expected total as done, even if fewer rows were needed than expected.
    done: () => progress({ step, part, unit, rows: totalRows ?? rows, totalRows, bytes, done: true }),
  };
}
