/** Lives the lives with the pinned build: a worktree of its commit in a temporary folder, which goes afterwards. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runSideBySide } from '../../src/io/side-by-side.js';
import type { CorpusLife } from './lives.js';

/** The last commit in which the steps of a run met in names instead of values. */
export const PINNED = 'f24299f';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** They go into the worktree, whose tests do not have them. */
const ADDED = ['live.ts', 'lives.ts', 'recorded-answers.ts'];

export interface MakeOptions {
  /** Gets a folder a life. */
  cache: string;
  /** The packages of the pinned build. */
  modules: string;
  workers: number;
}

/** Makes the lives that the cache lacks. */
export async function makeLives(lives: readonly CorpusLife[], { cache, modules, workers }: MakeOptions): Promise<void> {
  const missing = lives.filter(({ name }) => !existsSync(path.join(cache, name)));
  if (missing.length === 0) return;
  const tree = mkdtempSync(path.join(tmpdir(), 'pricelake-pinned-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', ROOT, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  git('worktree', 'add', '--detach', '--force', tree, PINNED);
  try {
    symlinkSync(modules, path.join(tree, 'node_modules'));
    const program = path.join(tree, 'test', 'corpus');
    mkdirSync(program);
    for (const name of ADDED) copyFileSync(path.join(ROOT, 'test', 'corpus', name), path.join(program, name));
    mkdirSync(cache, { recursive: true });
    await runSideBySide(workers, missing, async (life) => {
      const folder = path.join(cache, `${life.name}.part`);
      rmSync(folder, { recursive: true, force: true });
      const refusal = await runProgram([path.join(program, 'live.ts'), JSON.stringify(life), folder], tree);
      if (refusal !== undefined) throw new Error(`the pinned build can't live life ${life.name}:\n${refusal}`);
      renameSync(folder, path.join(cache, life.name));
    });
  } finally {
    git('worktree', 'remove', '--force', tree);
  }
}

/** Runs a TypeScript program with the packages of the folder. Returns what it wrote where it failed. */
export function runProgram(args: readonly string[], cwd: string): Promise<string | undefined> {
  const options = { cwd, env: { ...process.env, PRICELAKE_API_KEY: 'sim-key' }, maxBuffer: 1 << 28 };
  return promisify(execFile)(process.execPath, ['--import', 'tsx', ...args], options).then(
    () => undefined,
    ({ stdout, stderr, message }) => `${stdout ?? ''}${stderr ?? message}`,
  );
}
