/**
 * Shows the mutants of hand-mutants.ts to their tests, one after the other, in a copy of the tree:
 * npm run mutate:hand [-- --only <part of a name or file>]. Fails on a survivor, and on a text that its file does not
 * hold once: the code has changed, and the mutant with it.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HAND_MUTANTS, type HandMutant } from './hand-mutants.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'docs', 'bench'].map((name) => path.join(ROOT, name)));
const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const say = (text: string) => process.stdout.write(`${text}\n`);

const copy = mkdtempSync(path.join(tmpdir(), 'pricelake-mutants-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
cpSync(ROOT, copy, { recursive: true, filter: (file) => !LEFT_OUT.has(file) });
for (const name of ['node_modules', 'docs']) symlinkSync(path.join(ROOT, name), path.join(copy, name));

/** True when the tests pass. */
function runTests(tests: readonly string[], only?: string): Promise<boolean> {
  const some = only === undefined ? [] : ['--testNamePattern', only];
  const args = ['run', '--bail', '1', '--config', 'test/mutate/vitest.config.ts', ...some];
  const env = { ...process.env, MUTATE_TESTS: tests.join(',') };
  const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, env, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
}

/** What became of a mutant. */
async function show({ file, find, replace, tests, only }: HandMutant): Promise<'killed' | 'SURVIVED' | 'NOT FOUND'> {
  const place = path.join(copy, file);
  const code = existsSync(place) ? readFileSync(place, 'utf8') : '';
  if (code.split(find).length !== 2) return 'NOT FOUND';
  writeFileSync(place, code.split(find).join(replace));
  try {
    return (await runTests(tests, only)) ? 'SURVIVED' : 'killed';
  } finally {
    writeFileSync(place, code);
  }
}

const mutants = HAND_MUTANTS.filter(({ name, file }) => `${file} ${name}`.includes(options.only));
const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
if (!(await runTests(tests))) throw new Error(`${tests.join(', ')}: they fail without a mutant too`);
let left = 0;
for (const mutant of mutants) {
  const outcome = await show(mutant);
  if (outcome !== 'killed') left++;
  say(`${outcome.padEnd(9)} ${mutant.file}: ${mutant.name}`);
}
say(`\n${mutants.length} mutants, ${left} not killed`);
process.exitCode = left === 0 ? 0 : 1;
