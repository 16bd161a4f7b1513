/**
 * npm run bench [-- --items 100000,1000000 --changes 300000 --pairs 3 --only bootstrap|changes]
 * Ratios of pairs measured in one run: machines are noisy, ratios less so. Prints Markdown.
 */
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changesSql, firstCopySql } from './floor.js';
import { type BenchSandbox, CLI, type Cost, download, measure, startSandbox } from './processes.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '100000,1000000' },
    changes: { type: 'string', default: '300000' },
    pairs: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});

const WORK = fileURLToPath(new URL('./.work', import.meta.url));
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const pairs = Number(values.pairs);

const PIPELINE = `name: bench
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
  history: none
lake: { path: ${path.join(WORK, 'lake')} }
landing: { keep: 0 }
`;

/** One pair: the floor and ours, on the same bytes. */
interface Pair {
  download: number;
  floor: Cost;
  ours: Cost;
  /** Seconds of ours that were not spent on fetching. */
  applying?: number;
}

const median = (numbers: number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

function sync(sandbox: BenchSandbox): Promise<Cost> {
  return measure(CLI, ['sync', path.join(WORK, 'bench.yaml'), '--json'], {
    PRICELAKE_BASE_URL: sandbox.baseUrl,
    PRICELAKE_API_KEY: sandbox.key,
    PRICELAKE_DEBUG: '1',
  });
}

async function runFloor(sql: string): Promise<Cost> {
  const file = path.join(WORK, 'floor.sql');
  await writeFile(file, sql);
  return measure(script('./run-sql.mjs'), [file]);
}

async function bootstrapPair(sandbox: BenchSandbox): Promise<Pair> {
  await clear('floor', 'floor.ndjson');
  const source = path.join(WORK, 'floor.ndjson');
  const url = `${sandbox.baseUrl}/api/v1/export?format=ndjson&status=all`;
  const seconds = await download(url, sandbox.key, source);
  const floor = await runFloor(firstCopySql(source, path.join(WORK, 'floor')));
  await clear('lake', 'floor', 'floor.ndjson');
  return { download: seconds, floor, ours: await sync(sandbox) };
}

/** The lake before the changes is kept, so that every pair applies the same ones. */
async function changesPair(sandbox: BenchSandbox): Promise<Pair> {
  await clear('lake', 'floor');
  await cp(path.join(WORK, 'before'), path.join(WORK, 'lake'), { recursive: true });
  await writeFile(path.join(WORK, 'bench.yaml'), PIPELINE.replace('keep: 0', 'keep: 7d'));
  const ours = await sync(sandbox);
  const landing = path.join(WORK, 'lake/_pricelake/landing');
  const run = path.join(landing, (await readdir(landing)).sort().at(-1) ?? '');
  await mkdir(path.join(WORK, 'floor'), { recursive: true });
  const isHydrated = (await readdir(run)).some((name) => /^hydrate-.*\.ndjson$/.test(name));
  const floor = await runFloor(
    changesSql({
      feed: path.join(run, 'feed.ndjson'),
      hydrated: isHydrated ? path.join(run, 'hydrate-*.ndjson') : undefined,
      items: path.join(WORK, 'before/items'),
      target: path.join(WORK, 'floor'),
    }),
  );
  return { download: 0, floor, ours, applying: ours.seconds - fetchSeconds(ours.stderr) };
}

/** From the log: the run's beginning to the end of the feed, and hydration from its first to its last page. */
function fetchSeconds(stderr: string): number {
  const events = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { at: string; event: string; what?: string; step?: string; done?: boolean });
  const time = (event?: { at: string }) => (event === undefined ? 0 : Date.parse(event.at) / 1000);
  const plan = events.find((event) => event.event === 'plan');
  const feed = events.find((event) => event.event === 'landed' && event.what === 'feed');
  const pages = events.filter((event) => event.event === 'landed' && event.what === 'hydration');
  return time(feed) - time(plan) + time(pages.at(-1)) - time(pages[0]);
}

async function clear(...names: string[]): Promise<void> {
  for (const name of names) await rm(path.join(WORK, name), { recursive: true, force: true });
}

let isHeadPrinted = false;

/** With the first row: a table without rows would look like a result. */
function printHead(): void {
  if (isHeadPrinted) return;
  isHeadPrinted = true;
  console.log(
    '| | floor s | ours s | ratio | rows/s | floor CPU s | ours CPU s | CPU ratio | peak memory | whole sync s | load |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
}

function report(title: string, rows: number, results: Pair[]): void {
  const floor = (pair: Pair) => pair.download + pair.floor.seconds;
  const ours = (pair: Pair) => pair.applying ?? pair.ours.seconds;
  printHead();
  const cell = (value: number, digits = 1) => value.toFixed(digits);
  const m = (pick: (pair: Pair) => number) => median(results.map(pick));
  console.log(
    `| ${title} | ${cell(m(floor))} | ${cell(m(ours))} | **${cell(
      m((pair) => ours(pair) / floor(pair)),
      2,
    )}** | ${Math.round(m((pair) => rows / ours(pair)) / 1000)}k | ${cell(m((pair) => pair.floor.cpuSeconds))} | ${cell(
      m((pair) => pair.ours.cpuSeconds),
    )} | **${cell(
      m((pair) => pair.ours.cpuSeconds / pair.floor.cpuSeconds),
      2,
    )}** | ${Math.round(
      m((pair) => pair.ours.peakBytes) / 2 ** 20,
    )} MB | ${cell(m((pair) => pair.ours.seconds))} | ${cell(loadavg()[0] ?? Number.NaN)} |`,
  );
}

async function benchItems(items: number): Promise<void> {
  const sandbox = await startSandbox(items);
  const count = items >= 1e6 ? `${items / 1e6}M` : `${items / 1e3}k`;
  try {
    await writeFile(path.join(WORK, 'bench.yaml'), PIPELINE);
    await clear('lake');
    await sync(sandbox); // warms the page cache and the sandbox
    const bootstraps: Pair[] = [];
    for (let i = 0; i < (values.only === 'changes' ? 0 : pairs); i++) bootstraps.push(await bootstrapPair(sandbox));
    if (bootstraps.length > 0) report(`first copy of ${count} items`, items, bootstraps);
    if (values.only === 'bootstrap' || items < 1_000_000) return;
    await clear('before');
    await cp(path.join(WORK, 'lake'), path.join(WORK, 'before'), { recursive: true });
    const changes = Number(values.changes);
    await sandbox.advance(changes);
    const applied: Pair[] = [];
    for (let i = 0; i < pairs; i++) applied.push(await changesPair(sandbox));
    report(`${changes / 1000}k changes applied to ${count} items`, changes, applied);
  } finally {
    await sandbox.stop();
  }
}

await rm(WORK, { recursive: true, force: true });
await mkdir(WORK, { recursive: true });
try {
  for (const items of values.items.split(',')) await benchItems(Number(items));
} catch (error) {
  console.error(`bench failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await rm(WORK, { recursive: true, force: true });
}
