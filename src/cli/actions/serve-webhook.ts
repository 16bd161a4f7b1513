import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readPipeline, readReceiver } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { openLake } from '../../lake/lake.js';
import {
  EventStore,
  HEALTH_PATH,
  listEvents,
  type RunEnd,
  SigningSecrets,
  SyncTrigger,
  startReceiver,
} from '../../wings/webhook/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { webhook } from '../commands/copy.js';
import { EXIT } from '../exit-codes.js';
import { findPipeline } from '../find-pipeline.js';
import { escapeControls } from '../plain-text.js';
import { untilStopped } from '../run-command.js';

/** Runs the webhook receiver until a signal arrives, and then throws an error with the code `stopped`. */
export async function serveWebhook(argv: Arguments<typeof webhook>, context: CommandContext): Promise<never> {
  const { io, signal, output, json } = context;
  if (argv.path === HEALTH_PATH)
    throw new PricelakeError('usage', `--path ${HEALTH_PATH} is reserved for the health check`);
  const file = await findPipeline(argv.pipeline, process.env);
  const { lakePath, secrets: sources } = await readReceiver(file, process.env);
  // The pipeline file is already read here, so that a mistake in it is reported once instead of by every run.
  if (argv.sync === true) io.protectSecret((await readPipeline(file, process.env)).source.apiKey);
  const secrets = await SigningSecrets.open(sources, io.protectSecret, io);
  const lake = await openLake(argv.lake ?? lakePath, { create: true });
  const store = await EventStore.open(lake.root, io);
  const syncArgs = [file, ...(argv.lake === undefined ? [] : ['--lake', argv.lake])];
  const runSync = (stop: AbortSignal) => runSyncProcess(syncArgs, io, stop);
  const trigger = argv.sync === true ? new SyncTrigger(runSync, argv.syncAfter, io) : undefined;
  const reload = () => void secrets.reload();
  process.on('SIGHUP', reload);
  try {
    const { host, port, path, maxAge: maxAgeMs, maxSkew: maxSkewMs } = argv;
    const limits = { maxAgeMs, maxSkewMs, maxBodyBytes: Math.round(argv.maxBody * 1_000_000) };
    const receiver = await startReceiver(
      { host, port, path, ...limits, secrets, store, onLanded: () => trigger?.want() },
      io,
    );
    try {
      const waiting = (await listEvents(lake.root)).length;
      if (waiting > 0) trigger?.want();
      io.log('info', 'webhook.listening', { url: receiver.url, lake: lake.root, waiting, sync: argv.sync === true });
      const text = `Receiving webhooks on ${receiver.url}. Register the public address of this endpoint with the service. Press Ctrl-C to stop.`;
      await output.write(`${json ? JSON.stringify({ url: receiver.url, lake: lake.root }) : text}\n`);
      await untilStopped(signal);
    } finally {
      await receiver.close();
    }
  } finally {
    process.off('SIGHUP', reload);
    await trigger?.close();
  }
  throw signal.reason;
}

/** The last line that `sync --json` prints, with the members that this file uses. */
interface SyncLine {
  ok?: boolean;
  published?: boolean;
  received?: number;
  error?: { code?: string; message?: string; next_run_at?: string };
}

const OUTCOMES: Record<number, RunEnd['outcome']> = {
  [EXIT.done]: 'done',
  [EXIT.quota]: 'later',
  [EXIT.locked]: 'later',
  [EXIT.temporary]: 'later',
};

/**
 * Runs `sync` in a separate process, because the receiver must respond within seconds even if a run crashes or uses a
 * lot of memory. Copies the run's log to this process's log. If the signal is aborted, sends SIGTERM to the run.
 */
async function runSyncProcess(args: string[], io: Io, signal: AbortSignal): Promise<RunEnd> {
  io.log('info', 'webhook.sync_started', {});
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', 'sync', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
  });
  createInterface({ input: child.stderr }).on('line', (line) => relayLine(line, io));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return reportEnd(code, last, io);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Copies a line of the run's log to stderr. Any other text that the run prints is logged as a warning. */
function relayLine(line: string, io: Io): void {
  if (line.startsWith('{')) process.stderr.write(`${escapeControls(line)}\n`);
  else if (line !== '') io.log('warn', 'webhook.sync_said', { text: line });
}

function reportEnd(code: number | null, stdoutLine: string, io: Io): RunEnd {
  const outcome = OUTCOMES[code ?? EXIT.unexpected] ?? 'failed';
  const { published, received, error } = readSyncLine(stdoutLine);
  const isStopped = error?.code === 'stopped';
  const level = outcome === 'failed' && !isStopped ? 'error' : 'info';
  io.log(level, 'webhook.sync_ended', { outcome, exitCode: code, published, received, error: error?.code });
  return { outcome, nextRunAt: error?.next_run_at === undefined ? undefined : new Date(error.next_run_at) };
}

/**
 * Parses the last line of a run's stdout. Returns an empty object if the line isn't JSON, as after the run was killed.
 */
function readSyncLine(line: string): SyncLine {
  try {
    return JSON.parse(line) as SyncLine;
  } catch {
    return {};
  }
}
