import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { CREDIT, publishLake } from './lake-fixture.js';
import { act, actJson, openContext } from './open-context.js';

const listing = (id: number, product: string, site: number, title: string, brand: string) => ({
  ...{ item_id: String(id), product_id: `'${product}'`, gtin: 'NULL', gtin14: 'NULL', site_id: String(site) },
  ...{ title: `'${title}'`, brand: `'${brand}'`, mpn: "'x'", price: '10' },
});

const lake = await publishLake([
  listing(1, 'acme-1', 1, 'Acme ink red 500 ml', 'Acme'),
  listing(2, 'acme-2', 2, 'Ink red, 500 ml', 'Acme'),
  listing(3, 'bravo-1', 1, 'Ink red 500 ml', 'Bravo'),
  listing(4, 'bravo-2', 3, 'Fountain pen, blue', 'Bravo'),
  listing(5, 'bravo-3', 3, 'Ink red 500 ml', 'Bravo'),
]);
afterAll(() => rm(dirname(lake), { recursive: true }));

const ask = (set: Record<string, string>, more: object = {}) => ({
  ...{ lake, analysis: 'match_candidates', memory: '1GB', set: Object.entries(set) },
  ...more,
});

const pairs = async (set: Record<string, string> = {}) =>
  (await actJson(runQuery, ask(set), openContext(true))).rows.map((row) => [row.product, row.other]);

test('match_candidates lists the likeliest pairs first, with the credits of their shops', async () => {
  expect(await pairs()).toEqual([
    ['acme-1', 'acme-2'],
    ['bravo-1', 'bravo-3'],
  ]);
  const { text } = await act(runQuery, ask({ top: '1' }, { format: 'ndjson' }));
  expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
    ...{ product: 'acme-1', other: 'acme-2', title: 'Acme ink red 500 ml', other_title: 'Ink red, 500 ml' },
    for: expect.stringContaining('brand Acme; words: 500 ink red'),
  });
  expect((await act(runQuery, ask({}))).text).toContain(CREDIT);
});

test('match_candidates can be limited to a brand in any case, and to a number of pairs', async () => {
  expect(await pairs({ brand: 'BRAVO' })).toEqual([['bravo-1', 'bravo-3']]);
  expect(await pairs({ top: '1' })).toEqual([['acme-1', 'acme-2']]);
  await expect(pairs({ brand: 'Bravoo' })).rejects.toMatchObject({
    code: 'usage',
    facts: { hint: 'Did you mean Bravo?' },
  });
});

test('the CSV output starts with the columns that the pipeline file reads back', async () => {
  const { text } = await act(runQuery, ask({ top: '1' }, { format: 'csv' }));
  expect(text.split('\n').slice(0, 2).join('\n')).toMatch(/^product,other,match,title.*\r\nacme-1,acme-2,,Acme ink/u);
});
