import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { complete } from '../../src/cli/completion/complete.js';
import { readAnalysis } from '../../src/sql/model.js';
import { publishLake, TEAS } from './lake-fixture.js';
import { runHere } from './pricelake.js';

const lake = await publishLake(TEAS);
afterAll(() => rm(dirname(lake), { recursive: true }));

const query = (analysis: string, ...set: string[]) =>
  runHere(['query', '--lake', lake, '--analysis', analysis, '--json', ...set.flatMap((one) => ['--set', one])]);

test.each([
  ['price_index', 'by=brnad', /price_index: by=brnad is not one of /u],
  ['price_index', 'perod=week', /price_index has no variable named perod\n.*Did you mean period\?/u],
  ['price_index', 'period=quarter', /period=quarter is not one of month, week, day\n/u],
  ['price_leaders', 'hours=0', /hours=0 is not a whole number from 1/u],
  ['dispersion', 'category=te', /category te: the category has no products/u],
  ['dispersion', 'category=hot-drinks-tee', /Did you mean hot-drinks-tea\?/u],
  ['dispersion', 'currency=EUT', /currency EUT: the lake has no such currency\n.*Did you mean EUR\?/u],
  ['offers', 'product=tea-9', /product tea-9: the lake has no such product\n.*Did you mean tea-1\?/u],
  ['offers', 'currency=EUR', /offers needs product: the product/u],
  ['assortment', 'site_id=99', /site_id 99: the lake has no such shop/u],
  ['find_products', 'brand=Acne', /brand Acne: the lake has no such brand\n.*Did you mean Acme\?/u],
])('query --analysis %s --set %s is refused with a suggestion', async (analysis, set, message) => {
  const { code, stderr } = await query(analysis, set);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('every analysis with a category reads the category tree', () => {
  for (const name of listAnalyses()) {
    const sql = readAnalysis(name);
    if (!sql.includes("getvariable('category')")) continue;
    expect(sql.replaceAll(/WITH known AS[\s\S]*?separator\)\)\)/gu, ''), name).not.toMatch(
      /category_slug\s*(?:=|<>)\s*getvariable/u,
    );
  }
});

test('a product is found by any form of its GTIN', async () => {
  const { stdout } = await query('offers', 'product=04006381333931');
  expect(JSON.parse(stdout).rows.length).toBe(3);
});

test('own SQL accepts only variables that it reads, and a file may declare them', async () => {
  const own = async (sql: string, set: string) => {
    const file = join(dirname(lake), 'own.sql');
    await writeFile(file, sql);
    return runHere(['query', '--lake', lake, '--file', file, '--json', '--set', set]);
  };
  const plain = "SELECT getvariable('least')::INTEGER AS least";
  expect((await own(plain, 'least=3')).code).toBe(0);
  expect((await own(plain, 'lest=3')).stderr).toMatch(/has no variable named lest\n.*Did you mean least\?/u);
  const declared = `-- Words.\n-- Variables:\n-- · least (whole number from 1): number\n${plain}`;
  expect((await own(declared, 'least=3')).code).toBe(0);
  expect((await own(declared, 'least=0')).stderr).toMatch(/least=0 is not a whole number from 1/u);
  const { code } = await runHere([
    'query',
    '--lake',
    lake,
    '--set',
    'day=2026-11-20',
    "SELECT getvariable('day') AS d",
  ]);
  expect(code).toBe(0);
});

test('query --analysis lists the analyses with their questions and variables', async () => {
  const { stdout } = await runHere(['query', '--analysis']);
  expect(stdout).toMatch(/^price_index +How the price level changed/mu);
  expect(stdout.replaceAll(/\s+/gu, ' ')).toContain(
    'period (month | week | day; default month), since (default everything for months',
  );
  const { analyses } = JSON.parse((await runHere(['query', '--analysis', '--json'])).stdout);
  const leaders = analyses.find(({ name }: { name: string }) => name === 'price_leaders');
  expect(leaders.question).toMatch(/\.$/u);
  expect(leaders.variables).toContainEqual(
    expect.objectContaining({ name: 'hours', type: 'whole number from 1', default: '72', about: expect.any(String) }),
  );
});

test('completion offers the variables of an analysis and their values', async () => {
  const list = async (...words: string[]) => (await complete(words)).map(({ value }) => value);
  const start = ['query', '--lake', lake, '--analysis', 'price_index', '--set'];
  expect(await list(...start, '')).toEqual(expect.arrayContaining(['period=', 'by=', 'since=', 'with_suspects=']));
  expect(await list(...start, 'peri')).toEqual(['period=']);
  expect(await list(...start, 'period=')).toEqual(['period=month', 'period=week', 'period=day']);
  // Bash splits a word at the equals sign.
  expect(await list(...start, 'period', '=')).toEqual(['month', 'week', 'day']);
  expect(await list(...start, 'period', '=', 'w')).toEqual(['week']);
  expect(await list(...start, 'currency=')).toEqual(['currency=EUR']);
  expect(await list(...start, 'category=hot')).toContain('category=hot-drinks-tea-green');
  expect(await list('query', '--set', '')).toEqual([]);
  expect(await list('query', '--analysis', 'none', '--set', '')).toEqual([]);
});
