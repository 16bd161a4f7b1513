import { type Io, type LogLevel, type Progress, realIo } from '../io/io.js';
import { toJsonText } from './json-text.js';
import { toPlainLine } from './plain-text.js';
import { createLogProgress, type ProgressView } from './progress.js';
import { createBars } from './progress-bars.js';
import { Redactor } from './redaction.js';
import { PLAIN, type Style } from './style.js';
import type { Screen } from './terminal-size.js';

export interface CliIoOptions {
  /** Where logs and progress go: stderr. */
  stream: Screen & { isTTY?: boolean };
  /** Texts that are never printed, beside the value of PRICELAKE_API_KEY. */
  secrets?: readonly string[];
  env?: NodeJS.ProcessEnv;
  now?: () => Date;
  /** The slightest events that are logged; default `info`. */
  level?: LogLevel;
  /** Default: plain. */
  style?: Style;
}

/** The CLI's world: the real clock, logs and progress on stderr. `close` ends the progress bars. */
export interface CliIo extends Io {
  protectSecret(text: string): void;
  redact(text: string): string;
  close(): void;
}

/** On a terminal: readable lines and bars; elsewhere JSON lines, progress every few seconds. */
export function createCliIo(options: CliIoOptions): CliIo {
  const env = options.env ?? process.env;
  const redactor = new Redactor([...(options.secrets ?? []), env.PRICELAKE_API_KEY ?? '']);
  const now = options.now ?? realIo.now;
  const terminal = options.stream.isTTY === true;
  const { level: least = 'info', style = PLAIN } = options;
  const write = (line: string) => void options.stream.write(`${line}\n`);

  const log = (level: LogLevel, event: string, facts: Record<string, unknown> = {}): void => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    if (terminal && least === 'info' && level !== 'error' && IN_SUMMARY.has(event)) return;
    // A fact that is named like one of the event's own members does not replace it.
    const own = { at: now(), level, event };
    const line = terminal ? formatLogLine(level, event, facts, style) : toJsonText({ ...own, ...facts, ...own });
    const safe = redactor.redact(line);
    if (terminal) view.printAbove(safe);
    else write(safe);
  };
  const view: ProgressView = terminal
    ? createBars(options.stream)
    : createLogProgress((facts) => log('info', 'progress', facts));

  return {
    ...realIo,
    now,
    log,
    progress: (update: Progress) => {
      if (least !== 'warn') view.update(update);
    },
    protectSecret: (text) => redactor.protect(text),
    redact: (text) => redactor.redact(text),
    close: () => view.close(),
  };
}

/** The summary of a run says the same: a person at a terminal reads it there. */
const IN_SUMMARY = new Set(['plan', 'decided', 'hydration.chosen', 'listing.chosen', 'check']);

/** From slight to grave. */
const LEVELS: LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
const MARKS: Record<LogLevel, string> = { trace: '·', debug: '·', info: '·', warn: '!', error: '✗' };
const TONES: Record<LogLevel, keyof Style> = { trace: 'dim', debug: 'dim', info: 'dim', warn: 'warn', error: 'bad' };

/** `· snapshot.done rows=41000 site=12` */
function formatLogLine(level: LogLevel, event: string, facts: Record<string, unknown>, style: Style = PLAIN): string {
  const pairs = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${formatFact(value)}`);
  const mark = style[TONES[level]](MARKS[level]);
  return `${mark} ${toPlainLine([event, ...pairs].join(' '))}`;
}

/** Seconds and shares are short on a terminal; JSON lines have them whole. */
function formatFact(value: unknown): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Number(value.toPrecision(3)));
  if (typeof value !== 'string') return toJsonText(value);
  return /^[^\s"=]+$/u.test(value) ? value : JSON.stringify(value);
}
