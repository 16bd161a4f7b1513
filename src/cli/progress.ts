import { MultiBar, type SingleBar } from 'cli-progress';
import type { Progress } from '../io.js';
import { toPlainLine } from './plain-text.js';

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

/** Bars on a terminal: rows, bytes, rate and time left of each step. */
export function createTerminalProgress(stream: NodeJS.WritableStream, write: (line: string) => void): ProgressView {
  const bars = new Map<string, { bar: SingleBar; startedAt: number }>();
  let screen: MultiBar | undefined;
  const open = (): MultiBar =>
    new MultiBar({ stream, hideCursor: true, gracefulExit: false, fps: 5, autopadding: true, format: formatBar });
  return {
    update(progress) {
      screen ??= open();
      let entry = bars.get(progress.step);
      if (entry === undefined) {
        entry = { bar: screen.create(0, 0, { progress, seconds: 0 }), startedAt: Date.now() };
        bars.set(progress.step, entry);
      }
      if (progress.totalRows !== undefined) entry.bar.setTotal(Number(progress.totalRows));
      entry.bar.update(Number(progress.rows), { progress, seconds: (Date.now() - entry.startedAt) / 1000 });
      if (progress.done === true) entry.bar.stop();
    },
    printAbove(line) {
      if (screen?.isActive) screen.log(`${line}\n`);
      else write(line);
    },
    close() {
      // `stop` would drop the lines that wait to be printed above the bars.
      screen?.update();
      screen?.stop();
      screen = undefined;
      bars.clear();
    },
  };
}

interface BarPayload {
  progress: Progress;
  seconds: number;
}

function formatBar(_options: unknown, _params: unknown, payload: BarPayload): string {
  return formatProgress(payload.progress, payload.seconds);
}

const BAR_CELLS = 24;

/** One line of a step: `snapshot ████░░░░ 41% 410,000/1,000,000 rows 12.3 MB 52,000 rows/s 11s left`. */
export function formatProgress(progress: Progress, seconds: number): string {
  const rows = Number(progress.rows);
  const rate = seconds > 0 ? rows / seconds : 0;
  const parts = [toPlainLine(progress.step).padEnd(12)];
  if (progress.totalRows !== undefined && progress.totalRows > 0n) {
    const total = Number(progress.totalRows);
    const share = Math.min(1, rows / total);
    const full = Math.round(share * BAR_CELLS);
    parts.push('█'.repeat(full) + '░'.repeat(BAR_CELLS - full), `${Math.floor(share * 100)}%`);
    parts.push(`${formatCount(rows)}/${formatCount(total)} rows`);
  } else {
    parts.push(`${formatCount(rows)} rows`);
  }
  if (progress.bytes > 0) parts.push(formatBytes(progress.bytes));
  if (rate > 0) parts.push(`${formatCount(Math.round(rate))} rows/s`);
  if (progress.done === true) parts.push(`done in ${formatSeconds(seconds)}`);
  else if (rate > 0 && progress.totalRows !== undefined) {
    parts.push(`${formatSeconds(Math.max(0, Number(progress.totalRows) - rows) / rate)} left`);
  }
  return parts.join(' ');
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
