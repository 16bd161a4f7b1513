/** Runs the histories with the pinned build, in a temporary worktree of its commit that is removed afterwards. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runSideBySide } from '../../src/io/side-by-side.js';
import type { CorpusLife } from './lives.js';

/** A commit that writes the current format of lakes. Pin a newer one whenever the format changes. */
export const PINNED = '25005542';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Files copied to the worktree, so that both builds run the same histories. */
const ADDED = ['live.ts', 'lives.ts', 'recorded-answers.ts'];

export interface MakeOptions {
  /** The folder that gets one folder for each history. */
  cache: string;
  /** The `node_modules` folder of the pinned build. */
  modules: string;
  workers: number;
}

/** Runs the histories that the cache doesn't contain. */
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
    mkdirSync(program, { recursive: true });
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

/** Runs a TypeScript program in a folder. Returns its output if it fails. */
export function runProgram(args: readonly string[], cwd: string): Promise<string | undefined> {
  const options = { cwd, env: { ...process.env, PRICELAKE_API_KEY: 'sim-key' }, maxBuffer: 1 << 28 };
  return promisify(execFile)(process.execPath, ['--import', 'tsx', ...args], options).then(
    () => undefined,
    ({ stdout, stderr, message }) => `${stdout ?? ''}${stderr ?? message}`,
  );
}
