/** Several lakes of one service, combined, equal one lake with all their datasets. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { columnsOf } from '../../src/sql/sql.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { runHere } from '../cli/pricelake.js';

const sandbox = await startSandbox({ items: 400, sites: 8, pastDays: 7, ratePerSecond: null });
const cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-union-'));
afterAll(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true });
});

/** Central Europe (26) and open prices (29) share listings with the others, and with each other. */
const SHARDS = { electronics: [11], europe: [26, 29], home: [14], others: [17, 20, 23] };
const NAMES = Object.keys(SHARDS) as (keyof typeof SHARDS)[];
const UNION = NAMES.flatMap((name) => ['--lake', `shards/${name}`]);
const WHOLE = ['--lake', 'whole'];

const env = { KEY: sandbox.keys.live, XDG_CACHE_HOME: path.join(cwd, 'cache') };

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(args, { cwd, env });
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

/** Lines without an order. Sums of doubles depend on the order of rows in their last digits. */
async function read(lakes: string[], ...args: string[]): Promise<string[]> {
  const text = await run('query', ...lakes, '--format', 'csv', ...args);
  const rounded = text.replaceAll(/-?\d+\.\d{9,}(e-?\d+)?/gu, (number) => Number(number).toPrecision(10));
  return rounded.trim().split('\r\n').sort();
}

/** The lakes end with the same changes, but one shard has applied some of them a run earlier than the others. */
beforeAll(async () => {
  const source = `baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}"`;
  const shards = NAMES.map((name) => `${name}: {datasets: [${SHARDS[name]}]}`).join(', ');
  await mkdir(path.join(cwd, 'shards'));
  await writeFile(path.join(cwd, 'shards.yaml'), `source: {${source}, shards: {${shards}}}\nlake: {path: ./shards}\n`);
  const datasets = Object.values(SHARDS).flat();
  await writeFile(
    path.join(cwd, 'whole.yaml'),
    `source: {${source}, datasets: [${datasets}]}\nlake: {path: ./whole}\n`,
  );
  const syncAll = async () => {
    await run('sync', 'whole.yaml');
    for (const name of NAMES) await run('sync', 'shards.yaml', '--dataset', name);
  };
  await syncAll();
  await sandbox.advance({ hours: 30, changes: 150 });
  await run('sync', 'shards.yaml', '--dataset', 'europe');
  await sandbox.advance({ hours: 30, changes: 150 });
  await syncAll();
}, 240_000);

/** Columns that record when a lake read something, and in which run. */
const OWN: Partial<Record<TableName, readonly string[]>> = {
  // The feed doesn't contain the time when a listing was seen, so it is as old as the last read.
  items: ['run_id', 'read_at', 'change_id', 'last_seen_at'],
  sites: ['run_id', 'valid_from', 'valid_to'],
};
/** Tables of runs, which each lake has for itself. */
const LEDGERS: readonly TableName[] = ['runs', 'check_results'];

describe('the union of four overlapping shards has the same rows as one lake', () => {
  test.each(TABLE_NAMES.filter((table) => !LEDGERS.includes(table)))('%s', async (table) => {
    const sql = `SELECT ${columnsOf(table, OWN[table] ?? ['run_id', 'read_at']).text} FROM ${table} ORDER BY ALL`;
    const whole = await read(WHOLE, sql);
    expect(await read(UNION, sql)).toEqual(whole);
    const isEmpty = ['stale_items', 'offer_rules', 'user_matches', 'service_products', 'rejects'].includes(table);
    expect(whole.length > 1).toBe(!isEmpty);
  });

  test.each(listAnalyses())('analysis %s', async (analysis) => {
    const args = ['--analysis', analysis, ...(await giveArguments(analysis))];
    const drop = (line: string) => line.replace(OWN_VALUES[analysis] ?? '', '');
    const whole = (await read(WHOLE, ...args)).map(drop);
    expect((await read(UNION, ...args)).map(drop)).toEqual(whole);
    if (!EMPTY.includes(analysis)) expect(whole.length).toBeGreaterThan(1);
  });
});

/** Texts that differ between lakes: when a lake last read a source, and the run that wrote a change. */
const OWN_VALUES: Record<string, RegExp> = {
  source_freshness: /\d{4}-\d\d-\d\dT[\d:.]+Z(?=,(?:item|copy|change|probe))/u,
  product_changes: /(?<=feed,)\d{6}-\d{8}T\d{6}Z/u,
};
/** Analyses that find nothing in these lakes. */
const EMPTY = ['availability', 'index_contributions', 'persistence', 'reductions', 'stock_moves', 'successors'];

/** Variables without which an analysis returns no rows. */
async function giveArguments(analysis: string): Promise<string[]> {
  const [, product = ''] = (
    await run('query', ...WHOLE, '--format', 'csv', 'SELECT min(product_id) FROM price_spread')
  ).split('\r\n');
  const file = async (name: string, text: string) => {
    await writeFile(path.join(cwd, name), text);
    return name;
  };
  const set = (...values: string[]) => values.flatMap((one) => ['--set', one]);
  switch (analysis) {
    case 'assortment_gaps':
      return set('own_site=12');
    case 'law_of_one_price':
      return ['--fx', await file('rates.csv', 'date,currency,rate\n2026-01-01,PLN,4.2\n2026-01-01,CZK,25\n')];
    case 'offer_prices':
      return set('first_day=2026-11-18', 'last_day=2026-11-20');
    case 'offers':
    case 'product_changes':
    case 'product_spells':
      return set(`product=${product}`);
    case 'product_offers':
      return set(`product_ids=[${product}]`, 'currencies=[PLN, EUR]');
    case 'weighted_index': {
      const weights = await file('weights.csv', 'shop,weight\n10,3\n12,1\n');
      return ['--weights', weights, '--tree', await file('tree.csv', 'child,parent\n10,all\n12,all\n')];
    }
    default:
      return [];
  }
}
