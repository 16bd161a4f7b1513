/** The world as a parameter. Tests replace clock, sleep, random and log; everything else stays real. */
export interface Io {
  /** The current time, UTC. */
  now(): Date;
  /** Rejects with the signal's reason when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A random number, uniform in [0, 1). Used only for jitter. */
  random(): number;
  /** Logs an event: a stable name and flat facts, never a secret. */
  log(level: LogLevel, event: string, facts?: Record<string, unknown>): void;
  progress(update: Progress): void;
}

/** `debug` includes every step, `trace` every call. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** The steps of a run, in order, by the names that folders, progress, logs, the lake's memory and the docs have for them. */
export const RUN_STEPS = ['open', 'plan', 'land', 'apply', 'derive', 'prove', 'publish', 'compact'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** Work that is not a step of a run: `run` is the whole run, and the last ones prepare a sandbox. */
type OtherWork = 'run' | 'rebuild' | 'verify' | 'reading' | 'loading' | 'changes' | 'inventing' | 'preparing';

export interface Progress {
  step: RunStep | OtherWork;
  /** Part of the step, such as `snapshot` or `feed` of `land`. */
  part?: string | undefined;
  rows: bigint;
  /** The expected number of rows, if known. */
  totalRows?: bigint | undefined;
  /** True if `totalRows` is only approximate. */
  isEstimate?: boolean;
  bytes: number;
  /** The unit of `rows`; default rows. */
  unit?: 'rows' | 'items' | 'tables' | 'checks';
  done?: boolean;
  /** Only for step `run`, which has no rows: the time and rows of earlier runs of the same kind. */
  pace?: { seconds: number; rows: bigint };
}

/** Reports the beginning and end of a step. A failed step has no end. */
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
    // Whatever was expected and did not come was not needed.
    done: () => progress({ step, part, unit, rows: totalRows ?? rows, totalRows, bytes, done: true }),
  };
}
