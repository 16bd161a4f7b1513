/**
 * Rebuilds the lakes of twenty simulated histories, which a pinned build ran, with the current code, and compares them.
 * npm run corpus [-- --only plain,held] [--cache <folder>] [--modules <node_modules of the pinned build>] [--workers 2]
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { realIo } from '../../src/io/real-io.js';
import { runSideBySide } from '../../src/io/side-by-side.js';
import { syncWithWings } from '../../src/wings/index.js';
import { CONTINUED, compareLakes } from './compare-lakes.js';
import { type CorpusLife, LIVES } from './lives.js';
import { makeLives, PINNED, runProgram } from './make.js';
import { replayAnswers } from './recorded-answers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    cache: { type: 'string', default: path.join(homedir(), '.cache', 'pricelake-corpus', PINNED) },
    modules: { type: 'string', default: path.join(ROOT, 'node_modules') },
    workers: { type: 'string', default: '2' },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const scratch = mkdtempSync(path.join(tmpdir(), 'pricelake-corpus-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

/** The lake that the current code made of one history, or the reason why it made none. */
type Attempt = { lake: string } | { refusal: string };

async function rebuild({ name }: CorpusLife): Promise<Attempt> {
  const lake = path.join(scratch, `${name}-rebuilt`);
  cpSync(path.join(options.cache, name, 'lake'), lake, { recursive: true });
  const pipeline = path.join(options.cache, name, 'pipeline.yaml');
  const args = [path.join(ROOT, 'src', 'cli', 'main.ts'), 'rebuild', pipeline, '--lake', lake];
  const refusal = await runProgram(args, ROOT);
  return refusal === undefined ? { lake } : { refusal };
}

/** Goes on with the run that the pinned build was stopped in, over the answers that it got then. */
async function goOn({ name }: CorpusLife): Promise<Attempt> {
  const folder = path.join(options.cache, name);
  const lake = path.join(scratch, `${name}-continued`);
  cpSync(path.join(folder, 'stopped'), lake, { recursive: true });
  const pipeline = await readPipeline(path.join(folder, 'pipeline.yaml'), { PRICELAKE_API_KEY: 'sim-key' });
  const service = await replayAnswers(path.join(folder, 'answers.ndjson'));
  const now = new Date(readFileSync(path.join(folder, 'stopped-at.txt'), 'utf8'));
  pipeline.lake.path = lake;
  pipeline.source.baseUrl = service.baseUrl;
  try {
    await syncWithWings(pipeline, { ...realIo, now: () => now, sleep: async () => {} });
    if (service.unknown.length === 0) return { lake };
    return { refusal: `it asks for what the pinned build did not ask: ${service.unknown.join(', ')}` };
  } catch (error) {
    const { message, facts } = error as Error & { facts?: { hint?: string } };
    const hint = facts?.hint ?? '';
    // Another format of lakes may do that, if it names the way out.
    if (hint.includes('rebuild')) return { refusal: `${LAWFUL}: ${message}` };
    return { refusal: `${message}\n${hint}` };
  } finally {
    await service.close();
  }
}

const LAWFUL = 'refused, and `rebuild` named';

/** @returns the number of differences */
async function check(life: CorpusLife): Promise<number> {
  const lines: string[] = [];
  let wrong = 0;
  const compare = async (what: string, attempt: Attempt, before: string, allowances?: typeof CONTINUED) => {
    if ('refusal' in attempt) {
      const isLawful = attempt.refusal.startsWith(LAWFUL);
      wrong += isLawful ? 0 : 1;
      lines.push(`  ${what}: ${attempt.refusal.trimEnd()}`);
      return;
    }
    const { equal, different } = await compareLakes(
      path.join(options.cache, life.name, before),
      attempt.lake,
      allowances,
    );
    lines.push(`  ${what}, equal: ${equal.map(({ table, rows }) => `${table} ${rows}`).join(', ')}`);
    for (const { table, lines: rows } of different)
      lines.push(`  ${what}, ${table} differs:`, ...rows.map((row) => `    ${row}`));
    wrong += different.length;
    rmSync(attempt.lake, { recursive: true });
  };
  await compare('rebuilt', await rebuild(life), 'lake');
  if (life.stop !== undefined) await compare('continued', await goOn(life), 'continued', CONTINUED);
  say([`${wrong === 0 ? 'equal ' : 'DIFFERS'} ${life.name}`, ...lines].join('\n'));
  return wrong;
}

const names = options.only?.split(',');
const unknown = names?.filter((name) => !LIVES.some((life) => life.name === name)) ?? [];
if (unknown.length > 0) throw new Error(`--only ${unknown}: there are ${LIVES.map(({ name }) => name).join(', ')}`);
const lives = LIVES.filter(({ name }) => names?.includes(name) ?? true);
const workers = Number(options.workers);
await makeLives(lives, { ...options, workers });
const wrong = (await runSideBySide(workers, lives, check)).reduce((sum, found) => sum + found, 0);
say(`\n${lives.length} lives, ${wrong} differences`);
process.exitCode = wrong === 0 ? 0 : 1;
