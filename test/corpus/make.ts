/** Lives the lives with the pinned build: a worktree of its commit in a temporary folder, which goes afterwards. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CorpusLife } from './lives.js';
import { runProgram, sideBySide } from './run-program.js';

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
    await sideBySide(missing, workers, async (life) => {
      const folder = path.join(cache, `${life.name}.part`);
      rmSync(folder, { recursive: true, force: true });
      const { code, output } = await runProgram([path.join(program, 'live.ts'), JSON.stringify(life), folder], tree);
      if (code !== 0) throw new Error(`the pinned build can't live life ${life.name}:\n${output}`);
      renameSync(folder, path.join(cache, life.name));
    });
  } finally {
    git('worktree', 'remove', '--force', tree);
  }
}
