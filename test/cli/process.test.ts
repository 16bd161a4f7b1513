import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishLake } from './lake-fixture.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
let lake: string;
beforeAll(async () => {
  lake = await publishLake();
});
afterAll(() => rm(dirname(lake), { recursive: true }));

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command line; `act` gets the process while it runs. */
function run(args: string[], act?: (child: ReturnType<typeof spawn>) => void): Promise<Outcome> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    env: { ...process.env, PRICELAKE_DEBUG: '' },
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    outcome.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    outcome.stderr += chunk;
  });
  act?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...outcome, code }));
  });
}

describe('the pricelake command', () => {
  it('lists its commands, and has examples for each', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const command of ['check', 'spread', 'query', 'status']) expect(stdout).toContain(`pricelake ${command}`);
    const helps = await Promise.all(['check', 'spread', 'query', 'status'].map((command) => run([command, '--help'])));
    for (const help of helps) expect(help.stdout).toContain('Examples:');
  });

  it.each([
    [['spred'], 'pricelake: unknown command spred\n  → Did you mean `pricelake spread`?\n'],
    [['spread', '--curency', 'EUR'], 'pricelake: unknown flag or argument curency\n  → Did you mean `--currency`?\n'],
  ])('answers %j with exit code 2 and what was meant', async (args, message) => {
    expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: message });
  });

  it('takes a flag without its value for a mistake, in JSON as well', async () => {
    const { code, stdout } = await run(['status', '--json', '--lake']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'usage' } });
  });

  it('prints the JSON line last and logs on stderr', async () => {
    const { code, stdout } = await run(['status', '--lake', lake, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ ok: true, runNumber: 1, cursor: 42 });
  });

  it('is quiet when the reader of its output goes', async () => {
    const args = ['query', 'FROM range(3000000)', '--lake', lake, '--format', 'csv'];
    const { code, stderr } = await run(args, (child) => child.stdout?.once('data', () => child.stdout?.destroy()));
    expect(code).toBe(0);
    expect(stderr).not.toContain('EPIPE');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops a running query on %s with exit code %i', async (signal, code) => {
    const args = ['query', 'FROM range(1000000000000)', '--lake', lake, '--format', 'csv'];
    const outcome = await run(args, (child) => child.stdout?.once('data', () => child.kill(signal)));
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(`pricelake: stopped by ${signal}`);
  });
});
