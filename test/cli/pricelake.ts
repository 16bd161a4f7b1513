import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command line, as users do; `act` gets the process while it runs. */
export function runPricelake(
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; act?: (child: ChildProcess) => void } = {},
): Promise<Outcome> {
  const { PRICELAKE_API_KEY: _key, PRICELAKE_BASE_URL: _url, PRICELAKE_DEBUG: _debug, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...inherited, ...options.env },
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
