/**
 * Changes the SQL of the models, one place at a time, and lists the changes that no test notices.
 * npm run mutate:sql -- [--sample N] [--seed TEXT] [name …]     names as in sql-targets.ts, such as models/apply
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { applyMutant, findMutants, type SqlMutant } from './sql-mutants.js';
import { openRunner, type SqlRunner, testFiles, type Verdict } from './sql-runner.js';
import { SQL_TARGETS } from './sql-targets.js';

const REPORT = 'test/mutate/reports/sql.json';

interface Judged extends SqlMutant {
  file: string;
  verdict: Verdict;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const names = positionals.length === 0 ? Object.keys(SQL_TARGETS) : positionals;

const runner = await openRunner();
const all: Judged[] = [];
for (const name of names) {
  const tests = SQL_TARGETS[name];
  if (tests === undefined) throw new Error(`${name} is not in test/mutate/sql-targets.ts`);
  all.push(...(await judgeFile(runner, `pipelines/${name}.sql`, testFiles(tests))));
}
await runner.close();
mkdirSync('test/mutate/reports', { recursive: true });
writeFileSync(REPORT, `${JSON.stringify(all, null, 1)}\n`);
console.log(describe('all', all));

async function judgeFile({ judge }: SqlRunner, file: string, tests: string[]): Promise<Judged[]> {
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
