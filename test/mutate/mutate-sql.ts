/**
 * Changes the SQL of the models, one place at a time, and lists the changes that no test notices.
 * npm run mutate:sql -- [--sample N] [--seed TEXT] [name …]     names of files in pipelines, such as models/apply
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createVitest, type TestModule } from 'vitest/node';
import { applyMutant, findMutants, type SqlMutant } from './sql-mutants.js';

const REPORTS = 'test/mutate/reports';

/** Tests that mutants of a folder's files are shown to, by the beginnings of their paths: the quick ones first. */
const TESTS: Record<string, readonly string[]> = {
  models: ['test/apply/', 'test/run/models', 'test/analyze/', 'test/front/'],
  analysis: ['test/analyze/', 'test/front/derived'],
};

/** `invalid`: DuckDB refuses the text before it runs, which any test would notice. */
type Verdict = 'killed' | 'survived' | 'invalid';
type Judged = SqlMutant & { file: string; verdict: Verdict };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const listFiles = (folder: string) =>
  readdirSync(`pipelines/${folder}`).map((file) => `${folder}/${file.slice(0, -4)}`);
const names = positionals.length === 0 ? Object.keys(TESTS).flatMap(listFiles) : positionals;

const vitest = await createVitest('test', {
  config: 'test/mutate/vitest.config.ts',
  include: ['test/**/*.test.ts'],
  exclude: [],
  setupFiles: ['test/one-thread.ts', 'test/mutate/serve-mutant.ts'],
  watch: false,
  bail: 1,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  maxWorkers: 1,
  fileParallelism: false,
  reporters: [{}],
});
const all: Judged[] = [];
for (const name of names)
  all.push(...(await judgeFile(`pipelines/${name}.sql`, TESTS[name.split('/')[0] ?? ''] ?? [])));
await vitest.close();
mkdirSync(REPORTS, { recursive: true });
writeFileSync(`${REPORTS}/sql.json`, `${JSON.stringify(all, null, 1)}\n`);
console.log(describe('all', all));

async function judgeFile(file: string, tests: readonly string[]): Promise<Judged[]> {
  const sql = readFileSync(file, 'utf8');
  const { verdict: plain, reason } = await judge(file, sql, tests);
  if (plain !== 'survived') throw new Error(`${file}: its tests fail without a mutant: ${reason}`);
  const judged: Judged[] = [];
  for (const mutant of choose(file, findMutants(sql))) {
    const { verdict } = await judge(file, applyMutant(sql, mutant), tests);
    judged.push({ ...mutant, file, verdict });
    if (judged.length % 10 === 0) console.log(describe(file, judged));
    if (verdict === 'survived') {
      console.log(`${file}:${mutant.line}:${mutant.column}  ${flat(mutant.original)}  →  ${flat(mutant.replacement)}`);
    }
  }
  console.log(describe(file, judged));
  return judged;
}

/** Runs the tests until one fails; `reason` is its error. */
async function judge(path: string, text: string, tests: readonly string[]) {
  vitest.provide('sqlMutant', { path, text });
  for (const part of tests) {
    vitest.state.filesMap.clear(); // failures of the mutant before would end this run by `bail`
    const specifications = await vitest.globTestSpecifications([part]);
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
    if (testModules.every((module) => module.ok()) && unhandledErrors.length === 0) continue;
    const reasons = [...listErrors(testModules), ...unhandledErrors].map((error) => String((error as Error).message));
    if (reasons.length === 0) throw new Error(`${part}: its run ended before a test failed`);
    const isInvalid = reasons.some((reason) => /^(Parser|Binder|Catalog) Error/.test(reason));
    const verdict: Verdict = isInvalid ? 'invalid' : 'killed';
    return { verdict, reason: reasons.join('\n') };
  }
  return { verdict: 'survived' as const };
}

function listErrors(modules: readonly TestModule[]): readonly unknown[] {
  return modules.flatMap((module) => [
    ...module.errors(),
    ...[...module.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
  ]);
}

/** The same mutants for the same seed; a change of one line leaves the choice among the others as it is. */
function choose(file: string, mutants: SqlMutant[]): SqlMutant[] {
  if (values.sample === undefined) return mutants;
  const seen = new Map<string, number>();
  const ranked = mutants.map((mutant) => {
    const text = `${values.seed} ${file} ${mutant.operator} ${mutant.original} ${mutant.replacement}`;
    const nth = (seen.get(text) ?? 0) + 1;
    seen.set(text, nth);
    return { mutant, rank: createHash('sha256').update(`${text} ${nth}`).digest('hex') };
  });
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant)
    .sort((a, b) => a.offset - b.offset);
}

function describe(name: string, judged: Judged[]): string {
  const count = (verdict: Verdict) => judged.filter((mutant) => mutant.verdict === verdict).length;
  const [killed, survived] = [count('killed'), count('survived')];
  const score = ((100 * killed) / Math.max(1, killed + survived)).toFixed(1);
  return `${name}: ${score} % of ${killed + survived} killed (${survived} survived, ${count('invalid')} are no SQL)`;
}

function flat(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line || '(nothing)';
}
