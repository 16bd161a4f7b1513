import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Io, LogLevel, Progress } from '../io/io.js';
import { realIo } from '../io/real-io.js';
import { describeEvent } from './event-sentences.js';
import { toJsonText } from './json-text.js';
import { renameMembers, toPrintedName } from './member-names.js';
import { hangText } from './output/display-width.js';
import { measureScreen, type Screen } from './output/output.js';
import { toPlainLine } from './plain-text.js';
import { createBars, createLogProgress, type ProgressView } from './progress.js';
import { PLAIN, type Style } from './style.js';

interface CliIoOptions {
  stream: Screen & { isTTY?: boolean };
  env?: NodeJS.ProcessEnv;
  now?: () => Date;
  /** The lowest level that is logged; default `info`. */
  level?: LogLevel;
  style?: Style;
}

/** The production `Io`, which writes logs and progress to stderr. `close` stops the progress bars. */
export interface CliIo extends Io {
  /** Redacts a secret from all later output. The value of PRICELAKE_API_KEY is redacted from the start. */
  protectSecret(text: string): void;
  redact(text: string): string;
  close(): void;
}

/**
 * Creates the command line's `Io`. On a terminal, it prints readable lines and progress bars. Otherwise, it prints JSON
 * lines, and logs the progress every ten seconds.
 */
export function createCliIo(options: CliIoOptions): CliIo {
  const { stream, env = process.env, now = realIo.now, level: least = 'info', style = PLAIN } = options;
  const redactor = createRedactor(env.PRICELAKE_API_KEY ?? '');
  const terminal = stream.isTTY === true;
  let view: ProgressView | undefined;
  const log = (level: LogLevel, event: string, facts: Record<string, unknown> = {}): void => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    if (terminal && least === 'info' && level !== 'error' && VERBOSE.has(event)) return;
    // These members are repeated at the end, so that members of `facts` with the same names can't overwrite them.
    const own = { at: now(), level, event };
    const safe = terminal
      ? formatLogLine(level, event, facts, { style, redact: redactor.redact, columns: measureScreen(stream).columns })
      : redactor.redact(toJsonText({ ...own, ...(renameMembers(facts) as object), ...own }));
    if (view?.printAbove === undefined) stream.write(`${safe}\n`);
    else view.printAbove(safe);
  };
  const openView = () => (terminal ? createBars(stream) : createLogProgress((facts) => log('info', 'progress', facts)));
  return {
    ...realIo,
    now,
    log,
    progress: (update: Progress) => {
      if (least === 'warn') return;
      view ??= openView();
      view.update(update);
    },
    ...redactor,
    close: () => {
      view?.close();
      view = undefined;
    },
  };
}

/**
 * Events that a terminal shows only with --verbose. They contain the limits of the run, or values that the summary at
 * the end of the run shows again.
 */
const VERBOSE = new Set(['run.machine', 'plan', 'decided', 'hydration.chosen', 'listing.chosen', 'check']);

/** Log levels, from least to most important. */
const LEVELS: LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
const MARKS: Record<LogLevel, string> = { trace: '·', debug: '·', info: '·', warn: '!', error: '✗' };
const TONES: Record<LogLevel, keyof Style> = { trace: 'dim', debug: 'dim', info: 'dim', warn: 'warn', error: 'bad' };

interface Look {
  style: Style;
  redact: (text: string) => string;
  columns: number;
}

/**
 * Formats an event as its sentence, wrapped to the terminal's width. An event without a sentence is formatted as `·
 * snapshot.done rows=41000 site=12`.
 */
function formatLogLine(level: LogLevel, event: string, facts: Record<string, unknown>, look: Look): string {
  const pairs = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${toPrintedName(name)}=${formatFact(renameMembers(value))}`);
  const sentence = describeEvent(event, facts);
  // Redaction must come before wrapping, because it can't find a secret that is split across two lines.
  const text = look.redact(toPlainLine(sentence ?? [event, ...pairs].join(' ')));
  const fitted = sentence === undefined ? text : hangText('  ', text, look.columns).slice(2);
  return `${look.style[TONES[level]](MARKS[level])} ${fitted}`;
}

/** Rounds fractions such as seconds to three digits for a terminal. JSON lines keep all digits. */
function formatFact(value: unknown): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Number(value.toPrecision(3)));
  if (typeof value !== 'string') return toJsonText(value);
  return /^[^\s"=]+$/u.test(value) ? value : JSON.stringify(value);
}

/**
 * Creates a function that replaces secrets with `***`, including their JSON-encoded and URL-encoded forms. The results
 * of queries aren't redacted.
 */
function createRedactor(first: string) {
  const secrets = new Set<string>();
  const protectSecret = (secret: string) => {
    if (secret === '') return;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) secrets.add(form);
  };
  protectSecret(first);
  const redact = (text: string) => [...secrets].reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
  return { protectSecret, redact };
}

/** Asks the user a question and returns the trimmed answer, which is empty if the user only presses Enter. */
export type Prompter = (question: string, isSecret?: boolean) => Promise<string>;

/** Creates a prompter for a terminal. Returns undefined if nobody can answer, as in a pipe or under a scheduler. */
export function createPrompter(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  signal: AbortSignal,
): Prompter | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return async (question, isSecret = false) => {
    if (isSecret) output.write(question);
    const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input, output: isSecret ? muted : output, terminal: true });
    // The terminal is in raw mode, in which Ctrl-C sends a character instead of a signal, so this sends the signal.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      return (await lines.question(isSecret ? '' : question, { signal })).trim();
    } finally {
      lines.close();
      if (isSecret) output.write('\n');
    }
  };
}
