import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PricelakeError } from '../errors/errors.js';

/** `pricelake sandbox` in a process of its own. */
export interface SandboxProcess {
  baseUrl: string;
  apiKey: string;
  /** Moves its world on. Returns what happened, by kind of change. */
  advance(hours: number): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** Starts this very command line as a sandbox on a free port of this machine, and waits until it listens. */
export async function startSandboxProcess(items: number, signal: AbortSignal): Promise<SandboxProcess> {
  const args = ['sandbox', '--port', '0', '--items', String(items), '--rate', '0', '--json'];
  const entry = process.argv[1] ?? '';
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = () => stopProcess(child);
  try {
    const { baseUrl, keys } = await readAddress(child, signal);
    return { baseUrl, apiKey: keys.live, advance: (hours) => advance(baseUrl, hours), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readAddress(child: ChildProcess, signal: AbortSignal) {
  if (child.stdout === null) throw new TypeError('the sandbox has no stdout');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line', { signal }).then(([text]) => String(text)),
    once(child, 'exit').then(() => undefined),
  ]);
  if (line === undefined) throw new PricelakeError('unavailable', 'the sandbox did not start; the reason is above');
  return JSON.parse(line) as { baseUrl: string; keys: { live: string } };
}

async function advance(baseUrl: string, hours: number): Promise<Record<string, unknown>> {
  const answer = await fetch(new URL('/sandbox/advance', baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ hours }),
  });
  if (!answer.ok) throw new PricelakeError('unavailable', `the sandbox did not advance: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
