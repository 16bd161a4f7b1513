/**
 * npm run bench:analysis [-- --items 1000000 --changes 3500000 --pairs 3] [--lake DIR] [--each]
 * What an analyst waits for, against plain DuckDB on the same Parquet: ratios of pairs measured in one run.
 * The lake is a copy of the sandbox, whose world moved for 90 days before, or one that is there. Prints Markdown.
 * With --each: every analysis of pipelines/analysis by `pricelake query`, on a lake that is made in SQL (bench/sql-lake.ts),
 * or those that --only names.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listAnalyses } from '../src/analyze/analysis.js';
import { readVariables } from '../src/analyze/variables.js';
import { makeMovedLake } from './moved-lake.js';
import { CLI, type Cost, measure, median, readOutput } from './processes.js';
import { makeSqlLake } from './sql-lake.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    changes: { type: 'string', default: '3500000' },
    pairs: { type: 'string', default: '3' },
    lake: { type: 'string' },
    each: { type: 'boolean', default: false },
    only: { type: 'string' },
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

/** Rows of a query over the lake. */
async function ask(query: string): Promise<string[][]> {
  const text = await readOutput(process.execPath, [CLI, 'query', '--lake', LAKE, query, '--format', 'csv', '--quiet']);
  return text
    .trim()
    .split(/\r?\n/u)
    .slice(1)
    .map((line) => line.split(','));
}

/** Values of the lake, and files, for the variables that have no default. */
async function findNeeded(): Promise<Record<string, string[]>> {
  const [[product = ''] = []] = await ask(
    'SELECT product_id FROM price_spread ORDER BY offers DESC, product_id LIMIT 1',
  );
  const [[first = '', last = ''] = []] = await ask(
    'SELECT (max(observed_date) - 19)::VARCHAR, (max(observed_date) - 1)::VARCHAR FROM history',
  );
  const currencies = await ask("SELECT DISTINCT currency FROM items WHERE currency <> 'EUR' ORDER BY 1");
  const categories = await ask('SELECT DISTINCT category_slug FROM items WHERE category_slug IS NOT NULL ORDER BY 1');
  const rates = path.join(WORK, 'rates.csv');
  const rateLines = currencies.flatMap(([one], k) => [`2020-01-01,${one},${4 + k}`, `${first},${one},${4.2 + k}`]);
  await writeFile(rates, ['date,currency,rate', ...rateLines, ''].join('\n'));
  const weights = path.join(WORK, 'weights.csv');
  await writeFile(
    weights,
    ['category,weight', ...categories.map(([one], k) => `${one},${1 + (k % 7)}`), ''].join('\n'),
  );
  const [[shop = ''] = []] = await ask(
    'SELECT site_id FROM offers GROUP BY ALL ORDER BY count(*) DESC, site_id LIMIT 1',
  );
  const known: Record<string, string> = {
    product,
    own_site: shop,
    site_id: shop,
    first_day: first,
    last_day: last,
    product_ids: JSON.stringify([product]),
    currencies: JSON.stringify(['EUR']),
  };
  const required = (name: string) => readVariables(name).filter((one) => one.isRequired && one.name in known);
  const files: Record<string, string[]> = { law_of_one_price: ['--fx', rates], weighted_index: ['--weights', weights] };
  return Object.fromEntries(
    listAnalyses().map((name) => [
      name,
      [...(files[name] ?? []), ...required(name).flatMap((one) => ['--set', `${one.name}=${known[one.name]}`])],
    ]),
  );
}

async function timeEach(): Promise<void> {
  const needed = await findNeeded();
  // Spells are kept for each version of a lake: the first query makes them.
  const spells = await measure(CLI, ['query', '--lake', LAKE, 'SELECT count(*) FROM price_spells', '--json']);
  console.log('| analysis | s | CPU s | peak memory | load |');
  console.log('| --- | --- | --- | --- | --- |');
  const print = (what: string, { seconds, cpuSeconds, peakBytes }: Cost) => {
    const memory = `${Math.round(peakBytes / 2 ** 20)} MB`;
    console.log(
      `| ${what} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${memory} | ${loadavg()[0]?.toFixed(1)} |`,
    );
  };
  print('prices of the past, once for a version', spells);
  const names = values.only === undefined ? listAnalyses() : values.only.split(',');
  for (const name of names) {
    const query = ['query', '--lake', LAKE, '--analysis', name, '--format', 'parquet', '--output', OUT];
    print(`\`${name}\``, await measure(CLI, [...query, ...(needed[name] ?? [])]));
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
const report = ['explore', '--lake', LAKE, '--output', path.join(WORK, 'report.html')];
await compare('`pricelake explore --output FILE`', ['report'], () => measure(CLI, report));
await rm(WORK, { recursive: true, force: true });
