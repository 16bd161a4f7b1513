/**
 * npm run bench:analysis [-- --items 1000000 --changes 3500000 --pairs 3] [--lake DIR] [--each]
 * What an analyst waits for, against plain DuckDB on the same Parquet: ratios of pairs measured in one run.
 * The lake is a copy of the sandbox, whose world moved for 90 days before, or one that is there. Prints Markdown.
 * With --each: every analysis of pipelines/analysis by `pricelake query`, on a lake that is made in SQL (bench/sql-lake.ts).
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listAnalyses } from '../src/analyze/analysis.js';
import { makeMovedLake } from './moved-lake.js';
import { CLI, type Cost, measure, median } from './processes.js';
import { makeSqlLake } from './sql-lake.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    changes: { type: 'string', default: '3500000' },
    pairs: { type: 'string', default: '3' },
    lake: { type: 'string' },
    each: { type: 'boolean', default: false },
  },
});

const WORK = fileURLToPath(new URL('./.work', import.meta.url));
const LAKE = path.resolve(values.lake ?? path.join(WORK, 'lake'));
const OUT = path.join(WORK, 'out.parquet');
const DAYS = 90;
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Pairs of the floor and ours, in turn. */
async function compare(what: string, [floor, ...more]: string[], ours: () => Promise<Cost>): Promise<void> {
  const pairs: { floor: Cost; ours: Cost }[] = [];
  for (let i = 0; i < Number(values.pairs); i++) {
    await rm(OUT, { recursive: true, force: true });
    pairs.push({
      floor: await measure(script('./floor-analysis.mjs'), [`${floor}`, LAKE, OUT, ...more]),
      ours: await ours(),
    });
  }
  const m = (pick: (pair: { floor: Cost; ours: Cost }) => number) => median(pairs.map(pick));
  const cells = [
    m((pair) => pair.floor.seconds).toFixed(1),
    m((pair) => pair.ours.seconds).toFixed(1),
    `**${m((pair) => pair.ours.seconds / pair.floor.seconds).toFixed(2)}**`,
    m((pair) => pair.floor.cpuSeconds).toFixed(1),
    m((pair) => pair.ours.cpuSeconds).toFixed(1),
    `${Math.round(m((pair) => pair.floor.peakBytes) / 2 ** 20)} MB`,
    `${Math.round(m((pair) => pair.ours.peakBytes) / 2 ** 20)} MB`,
    `${loadavg()[0]?.toFixed(1)}`,
  ];
  console.log(`| ${what} | ${cells.join(' | ')} |`);
}

const derive = (...args: string[]) => measure(script('./derive.mjs'), args);

/** What the analyses need that read a variable without a default. */
const NEEDED: Record<string, string[]> = {
  law_of_one_price: ['--fx', path.join(WORK, 'rates.csv')],
  offers: ['--set', 'product=4000000000007'],
  daily_spreads: ['--set', 'product=4000000000007'],
  offer_prices: ['--set', 'first_day=2026-11-01', '--set', 'last_day=2026-11-19'],
};

async function timeEach(): Promise<void> {
  await writeFile(
    path.join(WORK, 'rates.csv'),
    'date,currency,rate\n2025-11-01,PLN,4.2\n2026-06-01,PLN,4.3\n2025-11-01,CZK,25\n2026-08-01,CZK,24.5\n',
  );
  console.log('| analysis | s | CPU s | peak memory | load |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const name of listAnalyses()) {
    const { seconds, cpuSeconds, peakBytes } = await measure(CLI, [
      ...['query', '--lake', LAKE, '--analysis', name, '--format', 'parquet', '--output', OUT],
      ...(NEEDED[name] ?? []),
    ]);
    const memory = `${Math.round(peakBytes / 2 ** 20)} MB`;
    const cells = [`\`${name}\``, seconds.toFixed(1), cpuSeconds.toFixed(1), memory, loadavg()[0]?.toFixed(1)];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

await rm(WORK, { recursive: true, force: true });
await mkdir(WORK, { recursive: true });
if (values.each) {
  if (values.lake === undefined)
    await makeSqlLake(LAKE, { items: Number(values.items), changes: Number(values.changes) });
  await timeEach();
  await rm(WORK, { recursive: true, force: true });
  process.exit();
}
if (values.lake === undefined)
  await makeMovedLake({ folder: WORK, items: Number(values.items), changes: Number(values.changes), days: DAYS });
console.log('| | by hand s | ours s | ratio | by hand CPU s | ours CPU s | by hand memory | peak memory | load |');
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
await compare('`price_spread` made', ['spread'], () => derive('spread', LAKE));
await compare(`${DAYS} days of \`price_spread_daily\` made`, ['daily', `${DAYS}`], () =>
  derive('daily', LAKE, `${DAYS}`),
);
await compare('one day of it', ['daily', '1'], () => derive('daily', LAKE, '1'));
await compare('`pricelake spread`', ['spread'], () => measure(CLI, ['spread', '--lake', LAKE, '--json']));
const check = ['check', '--lake', LAKE, '--fail-on', 'gate', '--json'];
await compare('`pricelake check`', ['checks'], () => measure(CLI, check));
const report = ['report', '--lake', LAKE, '--output', path.join(WORK, 'report.html')];
await compare('`pricelake report`', ['report'], () => measure(CLI, report));
await rm(WORK, { recursive: true, force: true });
