import { setTimeout } from 'node:timers/promises';

/** The world as a parameter. Tests replace clock, sleep, random and log; everything else is real. */
export interface Io {
  /** Now, UTC. */
  now(): Date;
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). Used for jitter, never for data. */
  random(): number;
  /** Logs an event: a stable name and flat facts, never a secret. */
  log(level: LogLevel, event: string, facts?: Record<string, unknown>): void;
  /** The CLI draws it. */
  progress(update: Progress): void;
}

/** `debug` has every step, `trace` every call. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface Progress {
  /** Such as `snapshot` or `feed`. */
  step: string;
  rows: bigint;
  /** Expected rows, if known. */
  totalRows?: bigint | undefined;
  /** True if `totalRows` is only about right. */
  isEstimate?: boolean;
  bytes: number;
  /** Unit of `rows`; default rows. */
  unit?: 'rows' | 'items' | 'tables' | 'checks';
  done?: boolean;
  /** Only for step `run`, which has no rows: time and rows of earlier runs of its kind. */
  pace?: { seconds: number; rows: bigint };
}

/** The real world without output; the CLI adds log and progress. */
export const realIo: Io = {
  now: () => new Date(),
  // Node rejects with an error of its own.
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
  random: Math.random,
  log: () => {},
  progress: () => {},
};

/** Reports begin and end of a step. One that fails has no end. */
export async function reportStep<T>(io: Pick<Io, 'progress'>, step: string, work: () => Promise<T>): Promise<T> {
  io.progress({ step, rows: 0n, bytes: 0 });
  const result = await work();
  io.progress({ step, rows: 0n, bytes: 0, done: true });
  return result;
}

export interface OpenStep {
  add(rows: bigint, bytes: number): void;
  done(): void;
}

export function openStep(
  { progress }: Pick<Io, 'progress'>,
  step: string,
  { unit = 'rows', totalRows }: Pick<Progress, 'unit' | 'totalRows'> = {},
): OpenStep {
  let [rows, bytes] = [0n, 0];
  progress({ step, unit, rows, totalRows, bytes });
  return {
    add(moreRows, moreBytes) {
      rows += moreRows;
      bytes += moreBytes;
      progress({ step, unit, rows, totalRows, bytes });
    },
    // Whatever was expected and did not come was not needed.
    done: () => progress({ step, unit, rows: totalRows ?? rows, totalRows, bytes, done: true }),
  };
}
