import type { Progress } from '../io/io.js';

/** Draws the progress of long steps. */
export interface ProgressView {
  update(progress: Progress): void;
  /** Prints a line without tearing the bars. */
  printAbove(line: string): void;
  close(): void;
}

const LOG_EVERY_MS = 5_000;

/** Where nobody watches: a log event every few seconds and one when the step is done. */
export function createLogProgress(log: (facts: Record<string, unknown>) => void, now: () => Date): ProgressView {
  const lastLog = new Map<string, number>();
  return {
    update(progress) {
      const at = now().getTime();
      const last = lastLog.get(progress.step);
      if (last === undefined) lastLog.set(progress.step, at);
      if (progress.done !== true && (last === undefined || at - last < LOG_EVERY_MS)) return;
      lastLog.set(progress.step, at);
      const { step, rows, totalRows, bytes, done } = progress;
      log({ step, rows, totalRows, bytes, done });
    },
    printAbove: () => {},
    close: () => {},
  };
}

/** `1,234,567` */
export function formatCount(count: number | bigint): string {
  return count.toLocaleString('en-US');
}

/** `12.3 MB`, in powers of 1000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** `0.4s`, `12s`, `3m 20s`, `2h 5m` */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}
