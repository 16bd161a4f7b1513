/**
 * Lives through seeds: npm run sim -- --seeds 100 [--seed 1] [--workers 2] [--trouble power-loss|damage|answers]
 * [--until-failure] [--no-shrink]. A failure is shrunk, and printed with the command that repeats it:
 * npm run sim -- --seed 7 --only '{"stateTimes":"kept"}' [--items 12] [--rounds 1] [--without 'step 3 of 1,loss 1 of run 2'].
 */
import { parseArgs } from 'node:util';
import makeTemporaryFolder from '../temporary-folder.js';
import { drawLife, listOdd, SEEDS_OF_ALL_PAIRS, shrinkLife } from './draw-life.js';
import { type Habits, PLAIN } from './habits.js';
import { type Life, TROUBLES } from './live-through.js';
import { Worker } from './worker-pool.js';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    only: { type: 'string' },
    items: { type: 'string' },
    rounds: { type: 'string' },
    trouble: { type: 'string' },
    without: { type: 'string' },
    'until-failure': { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
  },
});

const trouble = TROUBLES.find((one) => one === options.trouble);
if (options.trouble !== undefined && trouble === undefined)
  throw new Error(`--trouble ${options.trouble} is none of ${TROUBLES.join(', ')}`);

interface Failure {
  life: Life;
  message: string;
}

const say = (text: string) => process.stdout.write(`${text}\n`);
/** What seeds have in common that fail in one way. */
const firstLine = (message: string) => (message.split('\n')[0] ?? '').replaceAll(/\d+/g, '#').slice(0, 200);

function planLife(seed: number): Life {
  const life = drawLife(seed);
  const { only, items, rounds, without } = options;
  return {
    seed,
    habits: only === undefined ? life.habits : { ...PLAIN, ...(JSON.parse(only) as Partial<Habits>) },
    items: items === undefined ? life.items : Number(items),
    rounds: rounds === undefined ? life.rounds : Number(rounds),
    trouble,
    without: without?.split(','),
  };
}

function replay({ seed, habits, items, rounds, trouble, without }: Life): string {
  const named = trouble === undefined ? '' : `--trouble ${trouble} `;
  const left = without === undefined ? '' : ` --without '${without.join()}'`;
  return `npm run sim -- ${named}--seed ${seed} --only '${JSON.stringify(listOdd(habits))}' --items ${items} --rounds ${rounds}${left}`;
}

async function liveAll(workers: Worker[], lives: Life[]) {
  const failures: Failure[] = [];
  const faults = new Map<string, number>();
  let [lived, seconds] = [0, 0];
  const waiting = [...lives];
  const work = async (worker: Worker) => {
    for (let life = waiting.shift(); life !== undefined; life = waiting.shift()) {
      const outcome = await worker.live(life);
      seconds += outcome.seconds;
      lived++;
      for (const fault of outcome.faults ?? []) faults.set(fault, (faults.get(fault) ?? 0) + 1);
      if (lives.length === 1 && outcome.trace !== undefined) say(`order of work: ${outcome.trace}`);
      if (outcome.failure === undefined) continue;
      failures.push({ life, message: outcome.failure });
      if (options['until-failure']) waiting.length = 0;
      say(`seed ${life.seed}: ${outcome.failure}`);
      if (options['no-shrink']) say(`  ${replay(life)}`);
    }
  };
  await Promise.all(workers.map(work));
  return { failures, faults, lived, seconds };
}

/** Of each way to fail, the first seed is shrunk. */
async function shrinkAll(workers: Worker[], groups: Map<string, Failure[]>): Promise<Map<string, Life>> {
  const shrunk = new Map<string, Life>();
  const waiting = [...groups];
  const work = async (worker: Worker) => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const [line, [first]] = group;
      if (first === undefined) continue;
      const life = await shrinkLife(first.life, async (plainer) => {
        const { failure, happened = [] } = await worker.live(plainer);
        return failure !== undefined && firstLine(failure) === line ? happened : undefined;
      });
      shrunk.set(line, life);
      say(`shrunk: ${line}\n  ${replay(life)}`);
    }
  };
  await Promise.all(workers.map(work));
  return shrunk;
}

function report(lived: number, seconds: number, groups: Map<string, Failure[]>, shrunk: Map<string, Life>): void {
  const failed = [...groups.values()].reduce((sum, group) => sum + group.length, 0);
  const pairs = lived >= SEEDS_OF_ALL_PAIRS ? 'all pairs of readings met' : `all pairs take ${SEEDS_OF_ALL_PAIRS}`;
  say(`\n${lived} seeds (${pairs}), ${failed} failed, ${(seconds / lived).toFixed(2)} CPU seconds each`);
  for (const [line, group] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    const seeds = group.map(({ life }) => life.seed);
    say(`- ${group.length} × ${line}`);
    say(`  seeds ${seeds.slice(0, 12).join(', ')}${seeds.length > 12 ? ', …' : ''}`);
    const life = shrunk.get(line);
    if (life !== undefined) say(`  \`${replay(life)}\``);
  }
}

process.once('exit', makeTemporaryFolder());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const first = Number(options.seed);
const lives = Array.from({ length: Number(options.seeds) }, (_, index) => planLife(first + index));
const workers = Array.from({ length: Math.min(Number(options.workers), lives.length) }, () => new Worker());
const { failures, faults, lived, seconds } = await liveAll(workers, lives);
const groups = new Map<string, Failure[]>();
for (const failure of failures) {
  const line = firstLine(failure.message);
  groups.set(line, [...(groups.get(line) ?? []), failure]);
}
const isShrunk = !options['no-shrink'] && options.only === undefined;
const shrunk = isShrunk ? await shrinkAll(workers, groups) : new Map<string, Life>();
report(lived, seconds, groups, shrunk);
for (const [fault, count] of [...faults].sort()) say(`${String(count).padStart(6)} × ${fault}`);
for (const worker of workers) worker.stop();
process.exitCode = failures.length === 0 ? 0 : 1;
