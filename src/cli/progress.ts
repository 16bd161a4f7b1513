import { formatBytes } from '../formats/bytes.js';
import { formatCount } from '../formats/count.js';
import type { Progress } from '../io/io.js';
import { measureScreen, type Screen } from './output/output.js';
import { toPlainLine } from './plain-text.js';

export interface ProgressView {
  update(progress: Progress): void;
  /** Prints a line above the progress bars. */
  printAbove?(line: string): void;
  close(): void;
}

const LOG_EVERY_MS = 10_000;

/** Logs the current step every ten seconds. */
export function createLogProgress(log: (facts: Record<string, unknown>) => void): ProgressView {
  const steps = new Steps();
  const timer = setInterval(() => {
    const last = steps.last();
    if (last === undefined) return;
    const { step, part, unit, rows, totalRows, isEstimate, bytes } = last.progress;
    log({
      step,
      part,
      unit,
      rows,
      totalRows,
      isEstimate,
      bytes,
      seconds: steps.seconds(),
      secondsLeft: steps.secondsLeft(),
    });
  }, LOG_EVERY_MS).unref();
  return { update: (progress) => void steps.update(progress), close: () => clearInterval(timer) };
}

/** Formats a duration as `0.4 s`, `12 s`, `3 min 20 s` or `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

interface Step {
  progress: Progress;
  startedAt: number;
}

/** Tracks the running steps and the elapsed time of the whole run. */
class Steps {
  readonly #steps = new Map<string, Step>();
  readonly #startedAt = performance.now();
  #pace: Progress['pace'];
  /** The number of rows in this copy, divided by the number of rows in earlier copies; at least 1. */
  #scale = 1;

  update(progress: Progress): Step {
    const { part, totalRows, pace } = progress;
    const name = nameStep(progress);
    const step = { progress, startedAt: this.#steps.get(name)?.startedAt ?? performance.now() };
    if (pace !== undefined) this.#pace = pace;
    else if (progress.done === true) this.#steps.delete(name);
    else this.#steps.set(name, step);
    // A full copy takes longer than the last full copy if the catalog has grown.
    if (part === 'snapshot' && totalRows !== undefined && this.#pace !== undefined && this.#pace.rows > 0n) {
      this.#scale = Math.max(1, Number(totalRows) / Number(this.#pace.rows));
    }
    return step;
  }

  all(): Step[] {
    return [...this.#steps.values()];
  }

  last(): Step | undefined {
    return this.all().at(-1);
  }

  seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /**
   * Estimates the remaining seconds from earlier runs of the same kind. Returns undefined if there are no such runs, or
   * if this run has already taken longer.
   */
  secondsLeft(): number | undefined {
    if (this.#pace === undefined) return undefined;
    const left = this.#pace.seconds * this.#scale - this.seconds();
    return left > 0 ? left : undefined;
  }

  /**
   * For the first run of a kind, estimates the minimum remaining seconds from the current rate of the running steps.
   * Steps that haven't started aren't included.
   */
  leastSecondsLeft(): number | undefined {
    if (this.#pace !== undefined) return undefined;
    const left = this.all().flatMap(({ progress: { rows, totalRows, unit }, startedAt }) => {
      const seconds = (performance.now() - startedAt) / 1000;
      // Progress in tables or checks doesn't predict the remaining time, because one table may take as long as all
      // other tables together.
      const isUneven = totalRows === undefined || rows === 0n || unit === 'tables' || unit === 'checks';
      return isUneven ? [] : [(seconds * Number(totalRows - rows)) / Number(rows)];
    });
    const most = Math.max(0, ...left);
    return most >= WORTH_A_LINE_SECONDS ? most : undefined;
  }
}

const DRAW_EVERY_MS = 200;
/** The bars are redrawn at this interval even without progress, because the elapsed time changes. */
const TICK_MS = 1_000;
/** Steps and runs that took less time than this aren't shown. */
const WORTH_A_LINE_SECONDS = 1;

/**
 * Draws the rows, bytes, rate and time of each running step at the bottom of a terminal, followed by the remaining time
 * of the run. Other output is printed above these lines. The line of a finished step stays on the screen if the step
 * took at least WORTH_A_LINE_SECONDS.
 */
export function createBars(screen: Screen): ProgressView {
  const steps = new Steps();
  let drawn: string[] = [];
  let drawnAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const formatSteps = () => steps.all().map((step) => formatStep(step, screen));

  /** Draws everything in one write, so that the screen doesn't flicker and no other output appears in between. */
  const draw = (above: string[] = []): void => {
    clearTimeout(timer);
    timer = undefined;
    const before = eraseLines(drawn, screen);
    drawn = [...formatSteps(), ...formatRun(steps, screen)].slice(1 - measureScreen(screen).rows);
    drawnAt = performance.now();
    screen.write(before + joinLines([...above, ...drawn]));
  };
  const ticker = setInterval(draw, TICK_MS).unref();

  return {
    update(progress) {
      const step = steps.update(progress);
      if (progress.done === true) return draw(isWorthALine(step) ? [formatStep(step, screen)] : []);
      const wait = drawnAt + DRAW_EVERY_MS - performance.now();
      if (wait <= 0) draw();
      else timer ??= setTimeout(draw, wait).unref();
    },
    printAbove: (line) => draw([line]),
    close() {
      clearInterval(ticker);
      clearTimeout(timer);
      // Steps that hadn't finished when the run ended keep their lines on the screen.
      if (drawn.length > 0) screen.write(eraseLines(drawn, screen) + joinLines(formatSteps()));
    },
  };
}

const joinLines = (lines: string[]) => lines.map((line) => `${line}\n`).join('');

function isWorthALine({ startedAt }: Step): boolean {
  return performance.now() - startedAt >= WORTH_A_LINE_SECONDS * 1000;
}

/**
 * Formats the line for the whole run, such as `run 12 s, about 40 s left`. For the first run of a kind, the line says
 * `at least` instead of `about`.
 */
function formatRun(steps: Steps, screen: Screen): string[] {
  if (steps.last() === undefined || steps.seconds() < WORTH_A_LINE_SECONDS) return [];
  const [left, least] = [steps.secondsLeft(), steps.leastSecondsLeft()];
  const atLeast = least === undefined ? '' : `, at least ${formatSeconds(least)} left`;
  const about = left === undefined ? atLeast : `, about ${formatSeconds(left)} left`;
  return [
    `${'run'.padEnd(NAME_CELLS)} ${formatSeconds(steps.seconds())}${about}`.slice(0, measureScreen(screen).columns - 1),
  ];
}

/**
 * Moves the cursor to the first drawn line and clears everything below. If the window has become narrower, the terminal
 * has wrapped the lines, so they occupy more rows.
 */
function eraseLines(lines: string[], screen: Screen): string {
  const { columns } = measureScreen(screen);
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
}

/**
 * Formats the line for a step. Leaves the last column empty, because some terminals move to the next line after a
 * character in that column.
 */
function formatStep({ progress, startedAt }: Step, screen: Screen): string {
  const { columns } = measureScreen(screen);
  return formatProgress(progress, (performance.now() - startedAt) / 1000, columns - 1);
}

const nameStep = ({ step, part }: Progress) => (part === undefined ? step : `${step} ${part}`);

const NAME_CELLS = 14;
const BAR_CELLS = 24;
const LEAST_CELLS = 8;

/** Parts that are omitted, in this order, if a line is too long. */
const DISPENSABLE = ['bytes', 'rate', 'bar', 'time'];

/**
 * Formats a line like `land snapshot ████░░░░ 41% 410,000/1,000,000 rows 12.3 MB 52,000 rows/s 11 s left`. If the line
 * is wider than the terminal, the bar is shortened first, and then parts of the line are omitted.
 */
export function formatProgress(progress: Progress, seconds: number, width = Number.POSITIVE_INFINITY): string {
  const join = (cells: number, without: string[]) =>
    Object.entries(describeProgress(progress, seconds, cells))
      .filter(([name, part]) => part !== undefined && !without.includes(name))
      .map(([, part]) => part)
      .join(' ');
  const whole = join(BAR_CELLS, []);
  const cells = Math.max(LEAST_CELLS, BAR_CELLS - Math.max(0, whole.length - width));
  const tries = [0, 1, 2, 3, 4].map((count) => join(cells, DISPENSABLE.slice(0, count)));
  return tries.find((line) => line.length <= width) ?? (tries.at(-1) ?? whole).slice(0, width);
}

function describeProgress(progress: Progress, seconds: number, cells: number): Record<string, string | undefined> {
  const { unit = 'rows', bytes, done } = progress;
  const rows = Number(progress.rows);
  const total = Number(progress.totalRows ?? 0n);
  const rate = seconds > 0 ? rows / seconds : 0;
  const share = total > 0 ? Math.min(1, rows / total) : undefined;
  const left = rate > 0 && progress.totalRows !== undefined ? Math.max(0, total - rows) / rate : undefined;
  const time = left === undefined || unit === 'tables' ? formatSeconds(seconds) : `${formatSeconds(left)} left`;
  const about = progress.isEstimate === true ? '≈' : '';
  const counted = share === undefined ? formatCount(rows) : `${formatCount(rows)}/${about}${formatCount(total)}`;
  return {
    step: toPlainLine(nameStep(progress)).padEnd(NAME_CELLS),
    bar: share === undefined ? undefined : '█'.repeat(Math.round(share * cells)).padEnd(cells, '░'),
    share: share === undefined ? undefined : `${Math.floor(share * 100)}%`,
    rows: share === undefined && rows === 0 ? undefined : `${counted} ${unit}`,
    bytes: bytes > 0 ? formatBytes(bytes) : undefined,
    // A rate measured over less than 0.1 s is meaningless.
    rate: unit === 'rows' && rate > 0 && seconds >= 0.1 ? `${formatCount(Math.round(rate))} rows/s` : undefined,
    time: done === true ? `done in ${formatSeconds(seconds)}` : time,
  };
}
