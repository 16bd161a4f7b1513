import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The time and memory that one process used. */
export interface Cost {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  stderr: string;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const CLI = here('../dist/cli/main.js');

/** Runs a script in a separate process, and measures it. Throws if the script fails. */
export async function measure(script: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Cost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-bench-'));
  const result = path.join(folder, 'cost.json');
  const command = [here('./measure.mjs'), result, script, ...args];
  const [seconds, stderr] = await time(() => readOutput(process.execPath, command, 'stderr', env));
  const used = JSON.parse(await readFile(result, 'utf8')) as Pick<Cost, 'cpuSeconds' | 'peakBytes'>;
  await rm(folder, { recursive: true });
  return { seconds, ...used, stderr };
}

/** Runs `pricelake sync` with a pipeline file that reads the sandbox's address and key from environment variables. */
export function sync({ baseUrl, key }: BenchSandbox, file: string, env: NodeJS.ProcessEnv = {}): Promise<Cost> {
  return measure(CLI, ['sync', file, '--json'], { ...env, PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: key });
}

/** Downloads a URL with curl, and returns the elapsed seconds. */
export async function download(url: string, key: string, target: string): Promise<number> {
  const args = ['-sSf', '-o', target, '-H', `Authorization: Bearer ${key}`, url];
  return (await time(() => readOutput('curl', args)))[0];
}

export async function time<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
  const start = performance.now();
  const result = await work();
  return [(performance.now() - start) / 1000, result];
}

export const median = (all: readonly number[]) =>
  [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

/** Runs a command until it exits, and returns its output. Throws if the command fails. */
export async function readOutput(
  command: string,
  args: string[],
  stream: 'stdout' | 'stderr' = 'stdout',
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: stream === 'stdout' ? ['ignore', 'pipe', 'inherit'] : ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child[stream]?.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed:\n${text}`);
  return text;
}

/** Clock ticks per second in `/proc`, which is 100 on x86 and ARM. */
const TICKS = 100;

/** Returns the CPU seconds that a process has used so far; undefined if the system doesn't report them. */
export async function readCpuSeconds(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  const [user, system] = stat?.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14) ?? [];
  return stat === undefined ? undefined : (Number(user) + Number(system)) / TICKS;
}

/** A sandbox that runs in a separate process. */
export interface BenchSandbox {
  baseUrl: string;
  key: string;
  pid: number;
  /** Returns the CPU seconds that it has used so far; undefined if the system doesn't report them. */
  readCpuSeconds(): Promise<number | undefined>;
  /** Advances the clock by `hours`, generates changes, and waits until the sandbox has prepared its responses. */
  advance(changes: number, hours?: number): Promise<void>;
  stop(): Promise<void>;
}

/** The maximum number of changes that the sandbox generates at once; more wouldn't fit into its memory. */
const STEP = 1_000_000;

/** Starts a sandbox with generated items, or with the data that `options` specify. */
export async function startSandbox(items: number | undefined, options: string[] = []): Promise<BenchSandbox> {
  const size = items === undefined ? [] : ['--items', String(items)];
  const args = [CLI, 'sandbox', ...size, '--rate', '0', '--json', ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { base_url: baseUrl, keys } = JSON.parse(line) as { base_url: string; keys: { live: string } };
  return {
    baseUrl,
    key: keys.live,
    pid: child.pid as number,
    readCpuSeconds: () => readCpuSeconds(child.pid as number),
    advance: async (changes, hours = 1) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys.live}` };
      const ask = async (place: string, init: RequestInit) => {
        const answer = await fetch(new URL(place, baseUrl), { ...init, headers });
        if (!answer.ok) throw new Error(await answer.text());
        await answer.arrayBuffer();
      };
      const steps = Math.max(1, Math.ceil(changes / STEP));
      for (let step = 0; step < steps; step++) {
        const body = JSON.stringify({ hours: hours / steps, changes: Math.min(STEP, changes - step * STEP) });
        await ask('/sandbox/advance', { method: 'POST', body });
      }
      await ask('/api/v1/items?size=1', {});
    },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
