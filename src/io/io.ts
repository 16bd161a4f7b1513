/** The world as a parameter: tests replace clock, sleep, random and log; everything else is real. */
export interface Io {
  /** Now, UTC. */
  now(): Date;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1): jitter only, never data. */
  random(): number;
  /** One event of the run's log: a stable name and flat facts. Never a secret. */
  log(level: LogLevel, event: string, facts?: Record<string, unknown>): void;
  /** Progress of a long step; the CLI draws it, tests ignore it. */
  progress(update: Progress): void;
}

/** `debug` has every step, `trace` every call of the service. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface Progress {
  /** Name of the step, e.g. `snapshot`, `feed`. */
  step: string;
  rows: bigint;
  /** Rows in all, where known. */
  totalRows?: bigint;
  bytes: number;
  /** What `rows` counts; default rows. */
  unit?: 'rows' | 'items' | 'tables' | 'checks';
  done?: boolean;
  /** Of step `run`, which has no rows: what earlier runs of its kind took and received. */
  pace?: { seconds: number; rows: bigint };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The real world, silent: the CLI adds its own log and progress. */
export const realIo: Io = {
  now: () => new Date(),
  sleep,
  random: Math.random,
  log: () => {},
  progress: () => {},
};

/** Reports a step as progress, from its beginning to its end. One that fails has no end. */
export async function reportStep<T>(io: Pick<Io, 'progress'>, step: string, work: () => Promise<T>): Promise<T> {
  io.progress({ step, rows: 0n, bytes: 0 });
  const result = await work();
  io.progress({ step, rows: 0n, bytes: 0, done: true });
  return result;
}

/** A step that reports what it has done so far. */
export interface OpenStep {
  add(rows: bigint, bytes: number): void;
  done(): void;
}

export function openStep({ progress }: Pick<Io, 'progress'>, step: string): OpenStep {
  let [rows, bytes] = [0n, 0];
  progress({ step, rows, bytes });
  return {
    add(moreRows, moreBytes) {
      rows += moreRows;
      bytes += moreBytes;
      progress({ step, rows, bytes });
    },
    done: () => progress({ step, rows, bytes, done: true }),
  };
}
