import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Io } from '../io/io.js';
import type { RunEnd } from '../webhook/sync-trigger.js';
import { EXIT } from './exit-codes.js';
import { escapeControls } from './plain-text.js';

/** What the last line of `sync --json` says, as far as it is of use here. */
interface SyncLine {
  ok?: boolean;
  published?: boolean;
  received?: number;
  error?: { code?: string; message?: string; nextRunAt?: string };
}

const OUTCOMES: Record<number, RunEnd['outcome']> = {
  [EXIT.done]: 'done',
  [EXIT.quota]: 'later',
  [EXIT.locked]: 'later',
  [EXIT.temporary]: 'later',
};

/**
 * Runs `sync` in a process of its own: what it may use up or die of leaves the receiver alone, which has to answer
 * within seconds. Its log becomes part of this process's. Aborting the signal stops it as SIGTERM does.
 */
export async function runSyncProcess(args: string[], io: Io, signal: AbortSignal): Promise<RunEnd> {
  const entry = process.argv[1] ?? '';
  io.log('info', 'webhook.sync_started', {});
  const child = spawn(process.execPath, [...process.execArgv, entry, 'sync', ...args, '--json'], {
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

/** A line of its log is passed on as it is; anything else becomes one. */
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
  return { outcome, nextRunAt: error?.nextRunAt === undefined ? undefined : new Date(error.nextRunAt) };
}

/** The last line of stdout; a process that was killed leaves none. */
function readSyncLine(line: string): SyncLine {
  try {
    return JSON.parse(line) as SyncLine;
  } catch {
    return {};
  }
}
