import type { Progress } from '../io/io.js';
import { Steps } from './progress-steps.js';

/** Draws the progress of long steps. */
export interface ProgressView {
  update(progress: Progress): void;
  /** Prints a line without tearing the bars. */
  printAbove(line: string): void;
  close(): void;
}

const LOG_EVERY_MS = 10_000;

/** Where nobody watches: a log event every ten seconds, of the step that is under way. */
export function createLogProgress(log: (facts: Record<string, unknown>) => void): ProgressView {
  const steps = new Steps();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const step = steps.last();
    if (step === undefined) return;
    const { step: name, unit, rows, totalRows, bytes } = step.progress;
    log({ step: name, unit, rows, totalRows, bytes, seconds: steps.seconds(), secondsLeft: steps.secondsLeft() });
  };
  return {
    update(progress) {
      steps.update(progress);
      timer ??= setInterval(tell, LOG_EVERY_MS).unref();
    },
    printAbove: () => {},
    close() {
      clearInterval(timer);
      timer = undefined;
      steps.clear();
    },
  };
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
