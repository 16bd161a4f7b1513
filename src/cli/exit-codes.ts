import { type ErrorCode, PricelakeError } from '../io/errors.js';
import { errorCodeOf } from '../lake/faults.js';
import { hangText, wrapText } from './output/display-width.js';
import { toPlainLine } from './plain-text.js';

/** Exit codes that schedulers branch on. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  checkFailed: 3,
  refused: 4,
  quota: 5,
  locked: 6,
  belowAllowed: 7,
  /** The value of EX_TEMPFAIL in sysexits.h. */
  temporary: 75,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const MEANINGS: Record<keyof typeof EXIT, string> = {
  done: 'success',
  unexpected: 'unexpected error',
  usage: 'usage or configuration',
  checkFailed: 'a check or a proof failed',
  refused: 'not allowed by key or plan',
  quota: 'budget or quota exhausted',
  locked: 'another run has locked the lake',
  belowAllowed: 'watch: a shop is below your limit',
  temporary: 'temporary failure; try again later',
  hungUp: 'stopped by SIGHUP',
  interrupted: 'stopped by SIGINT',
  terminated: 'stopped by SIGTERM',
};

/** Formats the exit codes with their meanings, in two columns. */
export function describeExits(): string {
  const lines = (Object.keys(EXIT) as (keyof typeof EXIT)[]).map(
    (name) => `${String(EXIT[name]).padStart(5)}  ${MEANINGS[name]}`,
  );
  const half = Math.ceil(lines.length / 2);
  return lines
    .slice(0, half)
    .map((line, at) => (line.padEnd(38) + (lines[half + at] ?? '')).trimEnd())
    .join('\n');
}

const EXIT_BY_CODE: Record<Exclude<ErrorCode, 'stopped'>, number> = {
  usage: EXIT.usage,
  config: EXIT.usage,
  query: EXIT.usage,
  // This code isn't temporary, because the command would fail again until somebody fixes the lake.
  lake_invalid: EXIT.usage,
  lake_read_only: EXIT.usage,
  offline: EXIT.usage,
  landing_gone: EXIT.usage,
  nothing_held: EXIT.usage,
  copy_differs: EXIT.usage,
  gate_failed: EXIT.checkFailed,
  check_failed: EXIT.checkFailed,
  verify_failed: EXIT.checkFailed,
  below_allowed: EXIT.belowAllowed,
  unauthorized: EXIT.refused,
  plan_refuses: EXIT.refused,
  quota: EXIT.quota,
  budget: EXIT.quota,
  lake_locked: EXIT.locked,
  unavailable: EXIT.temporary,
  snapshot_incomplete: EXIT.temporary,
  deadline: EXIT.temporary,
  not_found: EXIT.unexpected,
  bad_request: EXIT.unexpected,
  contract: EXIT.unexpected,
  disk_full: EXIT.unexpected,
  open_files: EXIT.unexpected,
  out_of_memory: EXIT.unexpected,
};

export const EXIT_BY_SIGNAL = {
  SIGHUP: EXIT.hungUp,
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
} as const;
export type StopSignal = keyof typeof EXIT_BY_SIGNAL;

/** Returns the exit code for an error. For the code `stopped`, it is 128 plus the signal's number, as shells expect. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof PricelakeError)) return EXIT.unexpected;
  if (error.code !== 'stopped') return EXIT_BY_CODE[error.code];
  return EXIT_BY_SIGNAL[error.facts.signal as StopSignal] ?? EXIT.interrupted;
}

/** Formats an error for people: the message on one line, the excerpt that it refers to, then a hint and links. */
export function formatError(error: unknown): string {
  const lines = [`pricelake: ${messageOf(error)}`];
  const { excerpt, hint, docsUrl, upgradeUrl, nextRunAt } = factsOf(error);
  for (const line of excerpt?.split('\n') ?? []) lines.push(`  ${toPlainLine(line)}`);
  if (hint !== undefined) lines.push(`${NEXT}${toPlainLine(hint)}`);
  if (nextRunAt !== undefined) lines.push(`  next run: ${nextRunAt.toISOString()}`);
  if (docsUrl !== undefined) lines.push(`  docs: ${toPlainLine(docsUrl)}`);
  if (upgradeUrl !== undefined) lines.push(`  plans: ${toPlainLine(upgradeUrl)}`);
  return lines.join('\n');
}

const NEXT = '  → ';

/** Wraps a formatted error to a terminal's width. An excerpt isn't wrapped, so its columns stay aligned. */
export function fitError(text: string, terminal: number | undefined): string {
  const fit = (line: string, at: number) => {
    if (at === 0) return wrapText(line, terminal, '  ');
    return line.startsWith(NEXT) ? hangText(NEXT, line.slice(NEXT.length), terminal) : line;
  };
  return text.split('\n').map(fit).join('\n');
}

/** Describes an error for programs; with `--json`, it is the last line of stdout. */
export function describeError(error: unknown): Record<string, unknown> {
  const { hint, docsUrl, upgradeUrl, nextRunAt, ...facts } = factsOf(error);
  const rest = Object.keys(facts).length > 0 ? { facts } : {};
  return {
    ok: false,
    error: { code: errorCodeOf(error), message: messageOf(error), hint, docsUrl, upgradeUrl, nextRunAt, ...rest },
  };
}

export function messageOf(error: unknown): string {
  return toPlainLine(error instanceof Error ? error.message : String(error));
}

const HINTS: Partial<Record<ErrorCode | 'unexpected', string>> = {
  open_files: 'Raise the limit on open files (`ulimit -n 4096`).',
  out_of_memory: 'Run the command on a machine with more memory.',
  disk_full: 'Free some space and run the command again.',
};

function factsOf(error: unknown): PricelakeError['facts'] {
  if (error instanceof PricelakeError) return error.facts;
  const hint = HINTS[errorCodeOf(error)];
  return hint === undefined ? {} : { hint };
}
