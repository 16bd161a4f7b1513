/** Runs the analyses one by one on the command line. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/analyze/variables.js';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { publishLake, TEAS } from './lake-fixture.js';
import { openContext } from './open-context.js';
import { runHere } from './pricelake.js';

const lake = await publishLake(TEAS);
const DAYS = { first_day: '2026-11-19', last_day: '2026-11-20' };
const cups = ["'EUR'", "'EUR'", "'PLN'"].map((currency, k) => {
  const [item_id, site_id] = [`${k + 1}`, `${k + 1}`];
  return { item_id, product_id: "'cup'", gtin: 'NULL', gtin14: 'NULL', site_id, price: `${2 + k}`, currency };
});
const lakeOfDays = await publishLake(cups, { first: '2026-11-18', last: '2026-11-19' });
const folder = await mkdtemp(join(tmpdir(), 'pricelake-analyses-'));
afterAll(async () => {
  for (const path of [dirname(lake), dirname(lakeOfDays), folder]) await rm(path, { recursive: true });
});

const query = (analysis: string, ...set: string[]) =>
  runHere(['query', '--lake', lake, '--analysis', analysis, '--json', ...set.flatMap((one) => ['--set', one])]);

/** Every analysis with a category finds its rows by slug, path and name, including those of subcategories. */
test.each(['dispersion', 'shop_overlap', 'find_products', 'lows_highs', 'price_index'])(
  '%s accepts a category by its slug, path or name, and includes subcategories',
  async (analysis) => {
    const rows = async (category: string) => {
      const more = analysis === 'shop_overlap' ? ['min_products=1'] : analysis === 'price_index' ? ['by=all'] : [];
      const { stdout, stderr, code } = await query(analysis, `category=${category}`, ...more);
      expect(stderr, category).toBe('');
      expect(code).toBe(0);
      return JSON.parse(stdout) as unknown;
    };
    const whole = await rows('hot-drinks-tea');
    expect(await rows('Hot drinks > Tea')).toEqual(whole);
    expect(await rows('hot drinks > tea')).toEqual(whole);
    expect(await rows('tea')).toEqual(whole);
    expect(await rows('Hot drinks')).toEqual(whole);
    expect(await rows('Green tea')).not.toEqual(whole);
  },
);

test('in_list is refused without a price list, with the command that takes one', async () => {
  const { stdout, code } = await query('find_products', 'in_list=true');
  expect(code).toBe(2);
  expect(stdout).toContain('in_list needs a price list: run pricelake explore --list FILE');
});

test('query runs every analysis that it lists', async () => {
  const fxFile = join(folder, 'rates.csv');
  await writeFile(fxFile, 'date,currency,rate\n2026-11-01,PLN,4\n2026-11-19,PLN,5\n');
  for (const analysis of listAnalyses()) {
    const fx = analysis === 'law_of_one_price' ? fxFile : undefined;
    const needed: Record<string, string> = {
      product: 'cup',
      own_site: '1',
      product_ids: '[cup]',
      currencies: '[EUR]',
      ...DAYS,
    };
    const set = readVariables(analysis).flatMap(({ name, isRequired }): [string, string][] =>
      isRequired && needed[name] !== undefined ? [[name, needed[name]]] : [],
    );
    const weights = analysis === 'weighted_index' ? join(folder, 'weights.csv') : undefined;
    if (weights !== undefined) await writeFile(weights, 'shop,weight\n1,1\n');
    await runQuery({ lake: lakeOfDays, memory: '1GB', analysis, set, fx, weights, format: 'ndjson' }, openContext());
  }
});
