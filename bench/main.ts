/**
 * npm run bench [-- --items 1000000,5000000 --changes 100,8000,300000 --pairs 3 --record]
 * npm run bench -- --guard [--record]
 * Measures first copies, everyday runs, and runs without changes against the floors, which are minimal DuckDB scripts.
 * Prints medians and ranges of alternating measurements as a Markdown table. `--record` saves our CPU seconds, to which
 * the next bench compares its own. `--guard` measures 200,000 items and 100 changes. It fails if our CPU seconds for
 * either, divided by those of the plain floor's first copy, exceed the recorded ratio by more than 10%.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as exact from './floor/exact.js';
import * as plain from './floor/plain.js';
import {
  type BenchSandbox,
  type Cost,
  download,
  measure,
  median,
  startSandbox,
  sync as syncWith,
} from './processes.js';
import { readSteps } from './steps.js';
import { countWritten, listFiles } from './written.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '100000,1000000' },
    changes: { type: 'string', default: '100,8000,300000' },
    pairs: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
    guard: { type: 'boolean', default: false },
  },
});

/** The number of items, including removed ones, that the default plan's monthly export rows allow. */
const PRO_ITEMS = 4_000_000;
const WORK = fileURLToPath(new URL('./.work', import.meta.url));
const inWork = (...names: string[]) => path.join(WORK, ...names);
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const pairs = Number(values.pairs);
if (values.guard) Object.assign(values, { items: '200000', changes: '100' });
/** The factor by which a ratio may exceed the recorded one. */
const TOLERANCE = 1.1;
const numbers = (list: string) => list.split(',').filter(Boolean).map(Number);

/** Our recorded CPU seconds by row title, and the ratios that the guard compares. */
const RECORDED = script('./recorded.json');

/** The measurements of one row of the bench. */
interface Figures extends Omit<Cost, 'stderr'> {
  /** CPU seconds that the sandbox used on the same cores; undefined if the system doesn't report them. */
  sandboxCpuSeconds: number | undefined;
  plain?: Pick<Cost, 'seconds' | 'cpuSeconds'>;
  exact?: Pick<Cost, 'seconds' | 'cpuSeconds'>;
  /** The number and total size of new or changed files in the lake. */
  written: { files: number; bytes: number };
  steps: Record<string, number>;
}

const PIPELINE = `name: bench
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
  history: none
lake: { path: ${inWork('lake')} }
landing: { keep: 7d }
`;

async function sync(sandbox: BenchSandbox): Promise<Figures> {
  const before = await sandbox.readCpuSeconds();
  const filesBefore = await listFiles(inWork('lake'));
  const begun = Date.now();
  const { stderr, ...cost } = await syncWith(sandbox, inWork('bench.yaml'), { PRICELAKE_DEBUG: '1' });
  const after = await sandbox.readCpuSeconds();
  const sandboxCpuSeconds = before === undefined || after === undefined ? undefined : after - before;
  const written = await countWritten(inWork('lake'), filesBefore);
  return { ...cost, sandboxCpuSeconds, written, steps: readSteps(stderr, begun, cost.seconds) };
}

async function runFloor(sql: string): Promise<Cost> {
  await writeFile(inWork('floor.sql'), sql);
  const cost = await measure(script('./run-sql.mjs'), [inWork('floor.sql')]);
  await clear('floor');
  return cost;
}

const clear = async (...names: string[]) => {
  for (const name of names) await rm(inWork(name), { recursive: true, force: true });
};

/** Measures a first copy. The floors' elapsed seconds include curl, but their CPU seconds don't. */
async function copyFirst(sandbox: BenchSandbox): Promise<Figures> {
  await clear('floor', 'export.ndjson');
  const source = inWork('export.ndjson');
  const url = `${sandbox.baseUrl}/api/v1/export?format=ndjson&status=all`;
  const waited = await download(url, sandbox.key, source);
  const byFloor = async (sql: string) => {
    const { seconds, cpuSeconds } = await runFloor(sql);
    return { seconds: waited + seconds, cpuSeconds };
  };
  const floors = {
    plain: await byFloor(plain.firstCopySql(source, inWork('floor'))),
    exact: await byFloor(exact.firstCopySql(source, inWork('floor'))),
  };
  await clear('lake', 'export.ndjson');
  return { ...(await sync(sandbox)), ...floors };
}

/** Measures pricelake first, because the floors apply its downloaded changes to a copy of the earlier items. */
async function applyChanges(sandbox: BenchSandbox, changes: number): Promise<Figures> {
  await clear('before', 'floor');
  await cp(inWork('lake/items'), inWork('before'), { recursive: true });
  await sandbox.advance(changes);
  const ours = await sync(sandbox);
  const landing = inWork('lake/_pricelake/landing');
  const run = path.join(landing, (await readdir(landing)).sort().at(-1) ?? '');
  const names = await readdir(run);
  const isReread = names.some((name) => /^hydrate-.*\.ndjson$/.test(name));
  if (!isReread) await writeFile(inWork('none.ndjson'), '');
  const places = {
    source: path.join(run, 'feed.ndjson'),
    reread: isReread ? path.join(run, 'hydrate-*.ndjson') : inWork('none.ndjson'),
    items: inWork('before'),
    target: inWork('floor'),
  };
  const byFloor = async (sql: string) => {
    await mkdir(inWork('floor'), { recursive: true });
    return runFloor(sql);
  };
  return { ...ours, plain: await byFloor(plain.changesSql(places)), exact: await byFloor(exact.changesSql(places)) };
}

const COLUMNS = [
  ...['', 'plain floor s', 'exact floor s', 'ours s', '÷ plain', '÷ exact', 'plain CPU s', 'exact CPU s', 'ours CPU s'],
  ...['CPU ÷ plain', 'sandbox CPU s', 'peak MB', 'files written', 'MB written', 'CPU against the last record', 'load'],
  'seconds by step',
];

/** Formats the median, with the range if there are several different values. */
function show(all: readonly (number | undefined)[], digits = 1): string {
  const known = all.filter((one) => one !== undefined);
  if (known.length === 0) return '';
  const [low, high] = [Math.min(...known).toFixed(digits), Math.max(...known).toFixed(digits)];
  return `${median(known).toFixed(digits)}${low === high ? '' : ` (${low}–${high})`}`;
}
const before = JSON.parse(await readFile(RECORDED, 'utf8')) as Record<string, number>;
const recorded: Record<string, number> = {};
const GUARDED = ', CPU ÷ plain floor of a first copy';
/** CPU seconds of the plain floor's first copy, for the guard. */
let guardFloor: number | undefined;

async function report(title: string, work: () => Promise<Figures>): Promise<void> {
  const runs: Figures[] = [];
  for (let i = 0; i < pairs; i++) runs.push(await work());
  // Prints the heading with the first row, because a table without rows would look like a result.
  if (Object.keys(recorded).length === 0)
    console.log(`| ${COLUMNS.join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length)}`);
  const of = (pick: (run: Figures) => number | undefined, digits = 1) => show(runs.map(pick), digits);
  const ratio = (floor: 'plain' | 'exact', figure: 'seconds' | 'cpuSeconds') =>
    of((run) => run[floor] && run[figure] / run[floor][figure], 2);
  const cpuSeconds = median(runs.map((run) => run.cpuSeconds));
  if (!values.guard) recorded[title] = Math.round(cpuSeconds * 10) / 10;
  if (values.guard) {
    guardFloor ??= Math.min(...runs.map(({ plain }) => plain?.cpuSeconds ?? Number.POSITIVE_INFINITY));
    if (runs.every(({ plain }) => plain !== undefined)) recorded[title + GUARDED] = divideLeast(runs, guardFloor);
  }
  const last = before[title];
  const change =
    last === undefined
      ? ''
      : `${cpuSeconds < last ? '−' : '+'}${Math.abs(Math.round(100 * (cpuSeconds / last - 1)))} %`;
  const cells = [
    ...[title, of((run) => run.plain?.seconds), of((run) => run.exact?.seconds), of((run) => run.seconds)],
    ...[ratio('plain', 'seconds'), ratio('exact', 'seconds')],
    ...[of((run) => run.plain?.cpuSeconds), of((run) => run.exact?.cpuSeconds), of((run) => run.cpuSeconds)],
    ...[ratio('plain', 'cpuSeconds'), of((run) => run.sandboxCpuSeconds), of((run) => run.peakBytes / 2 ** 20, 0)],
    ...[of((run) => run.written.files, 0), of((run) => run.written.bytes / 1e6), change, loadavg()[0]?.toFixed(1)],
    // The steps of the last run.
    Object.entries(runs.at(-1)?.steps ?? {})
      .map(([step, took]) => `${step} ${took.toFixed(1)}`)
      .join(', '),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

/**
 * Returns the lowest ratio of our CPU seconds to the floor's, because other load can only increase them. Always divides
 * by the first copy's floor, because the floor for 100 changes takes only a second.
 */
function divideLeast(runs: readonly Figures[], floor: number): number {
  return Math.round((100 * Math.min(...runs.map(({ cpuSeconds }) => cpuSeconds))) / floor) / 100;
}

/** Describes the rows whose ratio exceeds the recorded one. */
function* findDearer(): Generator<string> {
  for (const [row, ratio] of Object.entries(recorded)) {
    const last = before[row];
    if (last !== undefined && ratio <= last * TOLERANCE) continue;
    yield `${row}: ${ratio}, but ${last === undefined ? 'no ratio is recorded: add --record' : `${last} was recorded`}`;
  }
}

const count = (n: number) => (n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : `${n}`);

async function benchItems(items: number): Promise<void> {
  // The floors read one export. If the plan has too few export rows, a first copy reads pages instead.
  const sandbox = await startSandbox(items, items > PRO_ITEMS ? ['--plan', 'unlimited'] : []);
  try {
    await writeFile(inWork('bench.yaml'), PIPELINE);
    await clear('lake');
    await report(`first copy of ${count(items)} items`, () => copyFirst(sandbox));
    for (const changes of numbers(values.changes)) {
      if (changes > items) continue;
      await report(`${count(changes)} changes into ${count(items)}`, () => applyChanges(sandbox, changes));
    }
    await report(`nothing new, ${count(items)}`, () => sync(sandbox));
  } finally {
    await sandbox.stop();
  }
}

function fail(why: string): void {
  console.error(`bench failed: ${why}`);
  process.exitCode = 1;
}

await rm(WORK, { recursive: true, force: true });
await mkdir(WORK, { recursive: true });
try {
  for (const items of numbers(values.items)) await benchItems(items);
  // Keeps the recorded values of rows that weren't measured this time.
  if (values.record) await writeFile(RECORDED, `${JSON.stringify({ ...before, ...recorded }, null, 2)}\n`);
  else if (values.guard) for (const dearer of findDearer()) fail(dearer);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
} finally {
  await rm(WORK, { recursive: true, force: true });
}
