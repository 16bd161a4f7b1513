import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { runCli } from '../../src/cli/program.js';
import { MemoryStream } from './open-context.js';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** stdout and stderr are a terminal of this width. */
  columns?: number | undefined;
}

/** The environment without variables that a user may have set. */
function buildEnvironment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PRICELAKE_API_KEY: _key, PRICELAKE_BASE_URL: _url, PRICELAKE_DEBUG: _debug, ...inherited } = process.env;
  return { ...inherited, ...env };
}

/** Runs the command line in this process, which takes a fraction of the time. Signals and closed pipes need `runPricelake`. */
export async function runHere(
  args: string[],
  { env, cwd = process.cwd(), columns }: Surroundings = {},
): Promise<Outcome> {
  const before = { env: process.env, argv: process.argv, cwd: process.cwd() };
  const open = () => Object.assign(new MemoryStream(columns !== undefined), columns === undefined ? {} : { columns });
  const [stdout, stderr] = [open(), open()];
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(stdout as never);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as never);
  try {
    Object.assign(process, { env: buildEnvironment(env), argv: [process.execPath, MAIN, ...args] });
    process.chdir(cwd);
    await runCli(args);
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.exitCode = undefined;
    process.chdir(before.cwd);
    Object.assign(process, { env: before.env, argv: before.argv });
    vi.restoreAllMocks();
  }
}

/** Runs the built command line, as users do; `act` gets the process while it runs; `shell` stands before the arguments. */
export function runPricelake(
  args: string[],
  options: Surroundings & { act?: (child: ChildProcess) => void; shell?: readonly string[] } = {},
): Promise<Outcome> {
  const [program = process.execPath, ...before] = options.shell ?? [process.execPath, MAIN];
  const child = spawn(program, [...before, ...args], {
    env: buildEnvironment(options.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    outcome.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    outcome.stderr += chunk;
  });
  options.act?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...outcome, code }));
  });
}

/** The last line of stdout, which `--json` makes one JSON object. */
export function readJsonLine({ stdout }: Outcome): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}
