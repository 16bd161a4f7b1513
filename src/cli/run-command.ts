import { describeError, formatError } from './error-report.js';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { chooseLogLevel } from './global-options.js';
import { toJsonText } from './json-text.js';
import { createStreamOutput, type Output } from './output/output.js';
import { escapeControls } from './plain-text.js';
import { createPrompter, type Prompter } from './prompter.js';
import { watchStopSignals } from './stop-signals.js';
import { chooseStyle, paint, type Style } from './style.js';
import { type CliIo, createCliIo } from './terminal-io.js';

/** What a command works with. */
export interface CommandContext {
  io: CliIo;
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal;
  /** stdout. */
  output: Output;
  /** `--json`: only the JSON line is wanted on stdout. */
  json: boolean;
  /** Colours of stdout. */
  style: Style;
  /** Tells what was done, on stdout: nothing with `--json` or `--quiet`. */
  say(text: string): Promise<void>;
  /** A person to ask; undefined where there is none. */
  prompter?: Prompter | undefined;
}

/** What a command reports with `--json`: the members of the last line, beside `ok`. */
export type CommandReport = Record<string, unknown>;

/**
 * Runs a command's action in the real world: logs, signals, the JSON line, errors and the exit code.
 * An action throws to fail, and returns its report (undefined when it wrote the JSON line itself).
 */
export async function runCommand(
  argv: { json?: unknown; [flag: string]: unknown },
  action: (context: CommandContext) => Promise<CommandReport | undefined>,
  /** What to do after a stop, where something is kept. */
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
  const { signal, release } = watchStopSignals(process, stopHint);
  try {
    const prompter = json ? undefined : createPrompter(process.stdin, process.stderr, signal);
    const report = await action({ io, signal, output, json, style, say, prompter });
    io.close();
    if (json && report !== undefined) await output.write(`${toJsonText({ ok: true, ...report })}\n`);
    process.exitCode = EXIT.done;
  } catch (error) {
    io.close();
    // What an aborted step throws on its way out is a consequence of the signal.
    const cause = signal.aborted ? signal.reason : error;
    await reportError(cause, { io, output, json, style: errorStyle, hasStack: level === 'debug' || level === 'trace' });
    process.exitCode = exitCodeOf(cause);
  } finally {
    release();
  }
}

/** Prints an error on stderr and, with `--json`, as the last line of stdout. */
async function reportError(
  error: unknown,
  {
    io,
    output,
    json,
    style,
    hasStack,
  }: Pick<CommandContext, 'io' | 'output' | 'json' | 'style'> & { hasStack: boolean },
): Promise<void> {
  process.stderr.write(`${paint(io.redact(formatError(error)), [/^pricelake:/u, style.bad])}\n`);
  if (hasStack && error instanceof Error) {
    process.stderr.write(`${io.redact(escapeControls(error.stack ?? ''))}\n`);
  }
  if (json) await output.write(`${io.redact(toJsonText(describeError(error)))}\n`);
}
