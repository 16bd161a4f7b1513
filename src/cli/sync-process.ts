import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Io } from '../io.js';
import type { RunEnd } from '../webhook/sync-trigger.js';
import { EXIT } from './exit-codes.js';

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
 * within seconds. Its log goes where this process's goes. Aborting the signal stops it as SIGTERM does.
 */
export async function runSyncProcess(args: string[], io: Io, signal: AbortSignal): Promise<RunEnd> {
  const entry = process.argv[1] ?? '';
  io.log('info', 'webhook.sync_started', {});
  const child = spawn(process.execPath, [...process.execArgv, entry, 'sync', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    const line = readLastLine(stdout);
    const outcome = OUTCOMES[code ?? EXIT.unexpected] ?? 'failed';
    const { published, received, error } = line;
    const facts = { exitCode: code, published, received, error: error?.code };
    io.log(outcome === 'failed' && !signal.aborted ? 'error' : 'info', 'webhook.sync_ended', { outcome, ...facts });
    const nextRunAt = error?.nextRunAt === undefined ? undefined : new Date(error.nextRunAt);
    return { outcome, nextRunAt };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A process that was killed leaves none. */
function readLastLine(stdout: string): SyncLine {
  try {
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as SyncLine;
  } catch {
    return {};
  }
}
