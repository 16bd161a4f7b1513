/**
 * Shows some mutants of a room of src, drawn evenly at random, to the tests that reach them, the quickest file first:
 * npm run mutate:sample -- ROOM [--count 100] [--seed 1] [--tests test/remote,test/run/held.test.ts]
 * `--files 10` shows each mutant to ten files at most. `--at src/a.ts:10` shows all mutants that begin on a line instead.
 * `--only 3,17` shows these of the sample again, say to other tests. `--again` measures again what the tests reach.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Instrumenter, type InstrumentResult } from '@stryker-mutator/instrumenter';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REPORTS = path.join(ROOT, 'test/mutate/reports');
/** Longer than any test file takes on a loaded machine. */
const SILENCE_MS = 300_000;
/** A mutant without an end must not fill the memory. */
const HEAP = '--max-old-space-size=2000';
/** Test files whose reach is measured, and noted, at a time. */
const MEASURED = 8;
const NOTHING = { ids: [], seconds: 0, isPassed: false };
const STORIES = ['changes', 'differences', 'sources', 'told'].map((name) => `test/front/${name}.test.ts`);

/** Tests of a room: files and folders. `--tests` takes their place. */
const TESTS: Record<string, readonly string[]> = {
  check: ['test/check'],
  apply: ['test/apply', ...STORIES, 'test/run/prove-products.test.ts'],
  remote: ['test/remote'],
  run: ['test/run', 'test/front', 'test/source'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string' },
    at: { type: 'string', multiple: true },
    files: { type: 'string', default: '100' },
    only: { type: 'string' },
    again: { type: 'boolean', default: false },
  },
});
const [room = ''] = positionals;
const folders = values.tests?.split(',') ?? TESTS[room];
if (folders === undefined) throw new Error(`give a room: ${Object.keys(TESTS).join(', ')}`);

type Mutant = InstrumentResult['mutants'][number];
/** What a test file reaches, and how long it takes. */
interface Reach {
  /** Of the file's text. */
  sha256: string;
  seconds: number;
  mutants: string[];
  /** Mutated files as they were then, by their SHA-256. */
  sources: Record<string, string>;
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const list = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
    .split('\n')
    .filter((name) => name !== '' && existsSync(path.join(ROOT, name)));

const place = ({ fileName, location: { start } }: Mutant) => `${fileName}:${start.line + 1}:${start.column + 1}`;
/** The same in each run while its file stays as it is. */
const keyOf = (mutant: Mutant) => JSON.stringify([mutant.fileName, mutant.location, mutant.replacement]);

const { files, mutants } = await instrument();
const copy = makeCopy();
const sources = Object.fromEntries(
  files.map(({ name }) => [name, sha256(readFileSync(path.join(ROOT, name), 'utf8'))] as const),
);
const tests = list(...folders).filter((name) => name.endsWith('.test.ts'));
const reaches = await measureReach();
const chosen = choose();
let killed = 0;
for (const { mutant, number } of chosen) {
  const killer = await findKiller(mutant);
  if (killer.isKilled) killed++;
  say(`${number}: ${killer.isKilled ? 'killed  ' : 'SURVIVED'} ${killer.text} ${describe(mutant)}`);
}
say(`${room}, seed ${values.seed}: ${killed} of ${chosen.length} mutants killed`);

async function instrument(): Promise<InstrumentResult> {
  const log = () => {};
  const logger = { trace: log, debug: log, info: log, warn: log, error: log, fatal: log };
  const is = () => false;
  const levels = { isTraceEnabled: is, isDebugEnabled: is, isInfoEnabled: is, isWarnEnabled: is };
  const paths = list(`src/${room}`).filter((name) => name.endsWith('.ts'));
  return new Instrumenter({ ...logger, ...levels, isErrorEnabled: is, isFatalEnabled: is }).instrument(
    paths.map((name) => ({ name, mutate: true, content: readFileSync(path.join(ROOT, name), 'utf8') })),
    { plugins: null, excludedMutations: [], ignorers: [] },
  );
}

/** The tree with all mutants in it, of which the environment switches one on. */
function makeCopy(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  for (const name of list('.')) cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  cpSync(path.join(ROOT, 'dist'), path.join(folder, 'dist'), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const { name, content } of files) writeFileSync(path.join(folder, name), content);
  return folder;
}

/** Runs the test files that have changed since once, without a mutant. Leaves out those that fail. */
async function measureReach(): Promise<(readonly [string, Reach])[]> {
  mkdirSync(REPORTS, { recursive: true });
  const file = path.join(REPORTS, `reach-${room}.json`);
  const known: Record<string, Reach | undefined> =
    existsSync(file) && !values.again ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const hashes = new Map(tests.map((test) => [test, sha256(readFileSync(path.join(ROOT, test), 'utf8'))]));
  const changed = tests.filter((test) => known[test]?.sha256 !== hashes.get(test));
  const keys = new Map(mutants.map((mutant) => [mutant.id, keyOf(mutant)]));
  const folder = path.join(copy, 'reached');
  mkdirSync(folder);
  while (changed.length > 0) {
    const some = changed.splice(0, MEASURED);
    await runTests(some, { MUTATE_REACHED: folder });
    for (const test of some) {
      delete known[test];
      const noted = path.join(folder, test.replaceAll('/', '+'));
      const { ids, seconds, isPassed } = existsSync(noted) ? JSON.parse(readFileSync(noted, 'utf8')) : NOTHING;
      if (!isPassed) say(`${test}: fails without a mutant, and is left out`);
      else {
        const reached = ids.map((id: string) => keys.get(id) ?? '');
        known[test] = { sha256: hashes.get(test) ?? '', seconds, mutants: reached, sources };
        say(`${test}: ${seconds} s, reaches ${ids.length} of ${mutants.length}`);
      }
    }
    writeFileSync(file, JSON.stringify(known));
  }
  const reaches = tests.flatMap((test) => (known[test] === undefined ? [] : [[test, known[test]] as const]));
  return reaches.sort(([, a], [, b]) => a.seconds - b.seconds);
}

/** Those whose hash with the seed is lowest, so that a count is drawn evenly and a larger one goes on from there. */
function choose(): { mutant: Mutant; number: number }[] {
  const { at, only, count, seed } = values;
  const ranked = mutants.map((mutant) => ({ mutant, rank: sha256(`${seed} ${keyOf(mutant)}`) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const numbered = ranked.map(({ mutant }, index) => ({ mutant, number: index + 1 }));
  if (at !== undefined) return numbered.filter(({ mutant }) => at.some((line) => place(mutant).startsWith(`${line}:`)));
  const sample = numbered.slice(0, Number(count));
  const numbers = only?.split(',').map(Number);
  return numbers === undefined ? sample : sample.filter(({ number }) => numbers.includes(number));
}

async function findKiller(mutant: Mutant): Promise<{ isKilled: boolean; text: string }> {
  const reaching = reaches.filter(([, reach]) => isReached(mutant, reach)).slice(0, Number(values.files));
  if (reaching.length === 0) return { isKilled: false, text: '(not reached)' };
  const names = reaching.map(([test]) => test);
  const { isPassed, output } = await runTests(names, { MUTATE_TESTS_SHARE: '1', __STRYKER_ACTIVE_MUTANT__: mutant.id });
  if (isPassed) return { isKilled: false, text: `(${reaching.length} test files)` };
  return { isKilled: true, text: /FAIL +(\S+)/.exec(output)?.[1] ?? 'endless, or without a result' };
}

/** Of a file that has changed since, any mutant tells that the test reaches it. */
function isReached(mutant: Mutant, { mutants, sources: then }: Reach): boolean {
  if (then[mutant.fileName] === sources[mutant.fileName]) return mutants.includes(keyOf(mutant));
  return mutants.some((key) => key.startsWith(`[${JSON.stringify(mutant.fileName)},`));
}

/** Runs test files in their order until one fails. One that says nothing for long has found a mutant without an end. */
function runTests(names: readonly string[], env: NodeJS.ProcessEnv): Promise<{ isPassed: boolean; output: string }> {
  const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--maxWorkers', '1', '--config', 'test/mutate/vitest.config.ts'];
  const isShown = env.__STRYKER_ACTIVE_MUTANT__ !== undefined;
  const child = spawn(process.execPath, isShown ? [...args, '--bail', '1'] : args, {
    cwd: copy,
    env: { ...process.env, ...env, NO_COLOR: '1', NODE_OPTIONS: HEAP, MUTATE_TESTS: names.join(',') },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group, since the processes that a test has begun must end with it.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    let output = '';
    const stop = () => process.kill(-(child.pid ?? 0), 'SIGKILL');
    // On a loaded machine a test may take long without a reason in the mutant.
    const timer = setTimeout(stop, SILENCE_MS);
    const note = (chunk: Buffer) => {
      output += chunk.toString();
      timer.refresh();
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (!isShown && code !== 0) say(output);
      resolve({ isPassed: code === 0, output });
    });
  });
}

function describe(mutant: Mutant): string {
  const { location, replacement, fileName } = mutant;
  const lines = readFileSync(path.join(ROOT, fileName), 'utf8')
    .split('\n')
    .slice(location.start.line, location.end.line + 1);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, location.end.column) ?? '';
  lines[0] = lines[0]?.slice(location.start.column) ?? '';
  const one = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 90);
  return `${place(mutant)} ${one(lines.join(' '))} → ${one(replacement)}`;
}
