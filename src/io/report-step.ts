import type { Io } from './io.js';

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
