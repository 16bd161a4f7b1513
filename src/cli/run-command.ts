import { PricelakeError } from '../io/errors.js';
import type { LogLevel } from '../io/io.js';
import type { CommandContext, CommandReport } from './command.js';
import {
  describeError,
  EXIT,
  EXIT_BY_SIGNAL,
  exitCodeOf,
  fitError,
  formatError,
  type StopSignal,
} from './exit-codes.js';
import { isHangupIgnored } from './ignored-hangup.js';
import { toJsonText } from './json-text.js';
import { renameMembers } from './member-names.js';
import { createStreamOutput, measureScreen } from './output/output.js';
import { escapeControls } from './plain-text.js';
import { chooseStyle, paint } from './style.js';
import { createCliIo, createPrompter } from './terminal-io.js';

/**
 * Runs an action and handles its logs, signals, JSON output, errors and exit code. The action throws if it fails.
 * Otherwise, it returns its report, or undefined if it has already written the JSON object.
 */
export async function runCommand(
  argv: { json?: unknown; [flag: string]: unknown },
  action: (context: CommandContext) => Promise<CommandReport | undefined>,
  stopHint?: string,
): Promise<void> {
  const json = argv.json === true;
  const { env, stderr, stdout } = process;
  const color = typeof argv.color === 'boolean' ? argv.color : undefined;
  const errorStyle = chooseStyle(stderr, { color, env });
  const level = chooseLogLevel(argv, env);
  const io = createCliIo({ stream: stderr, level, style: errorStyle });
  const output = createStreamOutput(stdout);
  const style = chooseStyle(stdout, { color, env });
  const say = async (text: string) => {
    if (!json && argv.quiet !== true) await output.write(text);
  };
  const { signal, release } = watchStopSignals(stopHint);
  try {
    const prompter = json ? undefined : createPrompter(process.stdin, process.stderr, signal);
    const report = await action({ io, signal, output, json, style, say, prompter });
    io.close();
    if (json && report !== undefined) await output.write(`${toJsonText(renameMembers({ ok: true, ...report }))}\n`);
    process.exitCode = EXIT.done;
  } catch (error) {
    io.close();
    // If a signal stopped the command, the action's error is only a consequence, so the signal is reported instead.
    const cause = signal.aborted ? signal.reason : error;
    const text = fitError(io.redact(formatError(cause)), stderr.isTTY ? measureScreen(stderr).columns : undefined);
    stderr.write(`${paint(text, [/^pricelake:/u, errorStyle.bad])}\n`);
    const hasStack = level === 'debug' || level === 'trace';
    if (hasStack && cause instanceof Error) stderr.write(`${io.redact(escapeControls(cause.stack ?? ''))}\n`);
    // If the original error was a failed write to stdout, this write may fail too.
    if (json) await output.write(`${io.redact(toJsonText(renameMembers(describeError(cause))))}\n`).catch(() => {});
    process.exitCode = exitCodeOf(cause);
  } finally {
    release();
  }
}

export function chooseLogLevel(argv: Record<string, unknown>, env: NodeJS.ProcessEnv): LogLevel {
  const verbose = Number(argv.verbose ?? 0);
  if (verbose >= 2) return 'trace';
  if (verbose === 1 || env.PRICELAKE_DEBUG === '1') return 'debug';
  return argv.quiet === true ? 'warn' : 'info';
}

/**
 * Returns a signal that is aborted with a PricelakeError `stopped` at the first SIGINT, SIGTERM or SIGHUP. A second
 * signal ends the process immediately. SIGHUP is ignored if it was already ignored at startup, as under nohup.
 * `release` removes the listeners.
 */
function watchStopSignals(hint?: string): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const ignoresHangup = isHangupIgnored(process.env);
  const listeners = (Object.keys(EXIT_BY_SIGNAL) as StopSignal[]).map((name) => {
    const listener = () => {
      // SIGHUP doesn't stop a command that has its own listener for it.
      if (name === 'SIGHUP' && (ignoresHangup || process.listenerCount(name) > 1)) return;
      if (controller.signal.aborted) endBySignal(name);
      const facts = { signal: name, ...(hint === undefined ? {} : { hint }) };
      controller.abort(new PricelakeError('stopped', `stopped by ${name}`, facts));
    };
    process.on(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    release: () => {
      for (const { name, listener } of listeners) process.off(name, listener);
    },
  };
}

/**
 * Ends the process with the signal's default action. `process.exit` would wait for DuckDB, which can't be interrupted
 * while it computes a single value.
 */
function endBySignal(name: StopSignal): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}

export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
