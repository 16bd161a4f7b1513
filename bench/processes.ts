import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What one process cost. */
export interface Cost {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  stderr: string;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const CLI = here('../dist/cli/main.js');

/** Runs a script in a process of its own and measures it. Throws when it fails. */
export async function measure(script: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Cost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-bench-'));
  const result = path.join(folder, 'cost.json');
  const start = performance.now();
  const child = spawn(process.execPath, [here('./measure.mjs'), result, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stderr = await readAll(child);
  const seconds = (performance.now() - start) / 1000;
  if (child.exitCode !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${stderr}`);
  const { cpuSeconds, peakBytes } = JSON.parse(await readFile(result, 'utf8')) as Omit<Cost, 'seconds' | 'stderr'>;
  await rm(folder, { recursive: true });
  return { seconds, cpuSeconds, peakBytes, stderr };
}

/** Downloads with curl; returns the seconds it took. */
export async function download(url: string, key: string, target: string): Promise<number> {
  const start = performance.now();
  const child = spawn('curl', ['-sSf', '-o', target, '-H', `Authorization: Bearer ${key}`, url], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}`);
  return (performance.now() - start) / 1000;
}

async function readAll(child: ChildProcess): Promise<string> {
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text;
}

/** Clock ticks a second in `/proc`: 100 on x86 and ARM. */
const TICKS = 100;

async function readCpuSeconds(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  const [user, system] = stat?.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14) ?? [];
  return stat === undefined ? undefined : (Number(user) + Number(system)) / TICKS;
}

/** A sandbox in a process of its own. */
export interface BenchSandbox {
  baseUrl: string;
  key: string;
  pid: number;
  /** CPU seconds it has used so far; undefined where the system does not tell. */
  readCpuSeconds(): Promise<number | undefined>;
  advance(changes: number, hours?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Of so many made-up items, or of what `options` say. */
export async function startSandbox(items: number | undefined, options: string[] = []): Promise<BenchSandbox> {
  const args = [
    CLI,
    'sandbox',
    ...(items === undefined ? [] : ['--items', String(items)]),
    '--rate',
    '0',
    '--json',
    ...options,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { baseUrl, keys } = JSON.parse(line) as { baseUrl: string; keys: { live: string } };
  return {
    baseUrl,
    key: keys.live,
    pid: child.pid as number,
    readCpuSeconds: () => readCpuSeconds(child.pid as number),
    advance: async (changes, hours = 1) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ hours, changes });
      const answer = await fetch(new URL('/sandbox/advance', baseUrl), { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
