import { spawn } from 'node:child_process';

export interface ProgramOutcome {
  code: number | null;
  /** stdout and stderr. */
  output: string;
}

/** Runs a TypeScript program, with the packages of the folder. */
export function runProgram(args: readonly string[], cwd: string): Promise<ProgramOutcome> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    cwd,
    env: { ...process.env, PRICELAKE_API_KEY: 'sim-key' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Does the work of each, so many at a time. */
export async function sideBySide<T>(
  list: readonly T[],
  workers: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = [...list];
  const go = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: workers }, go));
}
