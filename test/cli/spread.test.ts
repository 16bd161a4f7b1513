import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { afterAll, describe, expect, it } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { showSpread } from '../../src/cli/actions/show-spread.js';
import { CREDIT, publishLake } from './lake-fixture.js';
import { act, actJson, MemoryOutput, openContext } from './open-context.js';

const ALL = { minShops: 2, top: 20, grade: 'C' as const };
const NOW = new Date('2026-11-20T12:00:00Z');

const offer = (id: number, product: string, site: number, price: string, more: Record<string, string> = {}) => ({
  item_id: String(id),
  product_id: `'${product}'`,
  gtin: 'NULL',
  gtin14: 'NULL',
  site_id: String(site),
  price,
  ...more,
});
const category = (slug: string, name: string, path: string) => ({
  category_slug: `'${slug}'`,
  category_name: `'${name}'`,
  category_path: `'${path}'`,
});

const folder = await mkdtemp(join(tmpdir(), 'pricelake-spread-'));
const cups = category('cups', 'Cups', 'Home / Kitchen / Cups');
const kitchen = { ...category('kitchen', 'Kitchen', 'Home / Kitchen'), brand: "'Acme'" };
const dining = category('dining', 'Kitchen & Dining', 'Home / Kitchen & Dining');
const lake = await publishLake(
  [
    offer(1, 'cup', 1, '2', cups),
    offer(2, 'cup', 2, '20', cups),
    offer(3, 'cup', 3, '10', { ...cups, currency: "'PLN'" }),
    offer(4, 'pot', 1, '10', kitchen),
    offer(5, 'pot', 3, '12', kitchen),
    offer(6, 'fork', 1, '10', dining),
    offer(7, 'fork', 3, '12', dining),
    offer(8, 'zloty', 1, '20', { currency: "'PLN'" }),
    offer(9, 'zloty', 2, '30', { currency: "'PLN'" }),
  ],
  { first: '2026-11-18', last: '2026-11-19' },
);
/** A price far from all others. */
const faulty = await publishLake([{ item_id: '7', price: '10000', site_id: '3' }]);
await writeFile(join(folder, 'rates.csv'), 'date,currency,rate\n2026-11-01,PLN,4\n2026-11-19,PLN,5\n');
afterAll(async () => {
  for (const path of [dirname(lake), dirname(faulty), folder]) await rm(path, { recursive: true });
});

describe('spread of some products', () => {
  const rows = async (request: object) => {
    const context = openContext(true);
    context.io.now = () => NOW;
    return (await actJson(showSpread, { lake, ...ALL, ...request }, context)).rows;
  };
  const products = async (request: object) => (await rows(request)).map((row) => row.product_id);

  it('shows the widest spreads with shop names, and the credits below the table or on stderr', async () => {
    const { text } = await act(showSpread, { lake, ...ALL });
    expect(text).toMatch(/Kettle \[31m red +100\.0 +B +EUR +10\.0001 +20\.00 +Alpha +茶店 +4006381333931 +15\.00 +3 /u);
    expect(text).toContain(`Include these credits when you share it:\n  ${CREDIT}\n`);
    const csv = await act(showSpread, { lake, ...ALL, format: 'csv' });
    expect([csv.text, csv.stderr]).toEqual([expect.stringContaining(CREDIT), expect.stringContaining(CREDIT)]);
  });

  it('can be limited to a number of shops and products', async () => {
    expect(await rows({ minShops: 4 })).toEqual([]);
    expect(await products({ top: 2 })).toEqual(['cup', '4006381333931']);
    expect((await act(showSpread, { ...ALL, lake: faulty })).text).toMatch(
      / 100\.0 +B +EUR +10\.0001 +20\.00 +Alpha +茶店 .* 3 +1 +only 3 shops/u,
    );
  });

  it('can be limited to a category with its subcategories, and to a brand in any case', async () => {
    expect(await products({})).toEqual(['cup', '4006381333931', 'zloty', 'fork', 'pot']);
    expect(await products({ category: 'kitchen' })).toEqual(['cup', 'pot']);
    expect(await products({ category: 'home / KITCHEN' })).toEqual(['cup', 'pot']);
    expect(await products({ category: 'cups' })).toEqual(['cup']);
    expect(await products({ category: 'kitchen', brand: 'ACME' })).toEqual(['pot']);
    const hint = 'Did you mean kitchen?';
    await expect(products({ category: 'kitchin' })).rejects.toMatchObject({ code: 'usage', facts: { hint } });
  });

  it("hides spreads that can't be trusted, and says how many and how to show them", async () => {
    expect(await products({ grade: 'B' })).toEqual(['4006381333931', 'zloty', 'fork', 'pot']);
    expect(await products({ grade: 'A' })).toEqual([]);
    const { text } = await act(showSpread, { lake, ...ALL, grade: 'B' });
    expect(text).toContain('\n1 of 5 spreads are hidden, because their prices contradict each other');
    expect(text).toContain('Show them with --grade C.');
    expect((await act(showSpread, { lake, ...ALL })).text).not.toContain('are hidden, because');
  });

  it.each([
    [{ currency: 'XXX' }, 'currency XXX', 'Choose from EUR, PLN.'],
    [{ currency: 'EUD' }, 'currency EUD', 'Did you mean EUR?'],
    [{ currency: 'XXX', daily: true }, 'currency XXX', 'Choose from EUR, PLN.'],
    [{ brand: 'Acmee' }, 'brand Acmee', 'Did you mean Acme?'],
    [{ product: 'forkk' }, 'product forkk', 'Did you mean fork?'],
    [{ product: '4006381333932', daily: true }, 'product 4006381333932', 'Did you mean 4006381333931?'],
  ])("is refused for values that the lake doesn't have: %j", async (request, what, hint) => {
    await expect(showSpread({ lake, ...ALL, ...request }, openContext())).rejects.toMatchObject({
      code: 'usage',
      message: `--${what}: the lake has no such ${what.split(' ')[0]}`,
      facts: { hint },
    });
  });

  it('can be shown day by day, from a given day', async () => {
    const days = await rows({ daily: true, since: { day: '2026-11-18' }, brand: 'acme' });
    expect(days.map((row) => [row.day, row.product_id, row.trusted_min, row.trusted_max, row.grade])).toEqual([
      ['2026-11-18', 'pot', 10, 12, 'B'],
      ['2026-11-19', 'pot', 10, 12, 'B'],
    ]);
    expect(await rows({ daily: true, product: 'pot', since: { daysAgo: 30 } })).toHaveLength(2);
    await expect(rows({ since: { daysAgo: 30 } })).rejects.toThrow('--since only works with --daily or --product');
  });

  it("compares shops across currencies by the user's rates, also day by day", async () => {
    const fx = join(folder, 'rates.csv');
    const [cup] = await rows({ fx, category: 'cups' });
    expect(cup).toMatchObject({ currency: 'EUR', offers: 3, shops: 3, min: 2, max: 20, attribution: [CREDIT] });
    const days = await rows({ fx, daily: true, product: 'zloty', since: { daysAgo: 30 } });
    expect(days.map((row) => [row.day, row.trusted_max, row.converted_max, row.rate_date])).toEqual([
      ['2026-11-18', 30, 7.5, '2026-11-01'],
      ['2026-11-19', 30, 6, '2026-11-19'],
    ]);
    await expect(rows({ fx, currency: 'PLN' })).rejects.toThrow('because all prices are converted to EUR');
  });

  it('of one product shows its offers, cheapest first, and its prices up to the newest time in the lake', async () => {
    const { text } = await act(showSpread, { lake, ...ALL, product: '04006381333931' });
    expect(text).toMatch(/^4006381333931 · Kettle \[31m red\n\ncurrency +price +shop/u);
    expect(text).toMatch(/10\.0001 +Alpha [\s\S]*15\.00 +Beta [\s\S]*20\.00 +茶店/u);
    expect(text).toContain(`Include these credits when you share it:\n  ${CREDIT}\n`);
    expect(text).toMatch(/EUR: ░ lowest to highest[\s\S]*20\.00 ┤░[\s\S]*10\.00 ┤░\n *└─\n *2026-01-01\n/u);
    const chart = (await act(showSpread, { ...ALL, lake: faulty, product: '4006381333931' })).text.split('EUR: ░')[1];
    expect(chart).toContain('trusted price');
    expect(chart).not.toMatch(/\d{3}\.00 ┤/u);
    const converted = await rows({ product: 'cup', fx: join(folder, 'rates.csv') });
    expect(converted.map((row) => row.converted_price)).toEqual([2, 2, 20]);
    await expect(showSpread({ lake, ...ALL, product: 'none' }, openContext())).rejects.toMatchObject({ code: 'usage' });
  });

  it('takes the lake and the rates from a pipeline file', async () => {
    const file = join(folder, 'prices.yaml');
    const source = `source: { baseUrl: "\${NOT_SET}", apiKey: "\${NOT_SET}" }`;
    await writeFile(file, `${source}\nlake: { path: ${lake} }\nanalysis: { fx: ${join(folder, 'rates.csv')} }\n`);
    const found = await actJson(showSpread, { pipeline: file, ...ALL, category: 'cups' });
    expect(found.rows).toMatchObject([{ currency: 'EUR', offers: 3 }]);
  });
});

describe('credits in files', () => {
  it('are in a metadata file beside CSV and JSON, as CSV on the Web defines it', async () => {
    const output = join(folder, 'spread.csv');
    const { report } = await act(showSpread, { lake, ...ALL, format: 'csv', output });
    expect(report).toMatchObject({ metadata: `${output}-metadata.json` });
    const metadata = JSON.parse(await readFile(`${output}-metadata.json`, 'utf8'));
    expect(metadata).toMatchObject({ url: 'spread.csv', 'dc:rights': [CREDIT] });
    expect(metadata.tableSchema.columns).toContainEqual({ titles: 'min', datatype: 'decimal' });
    const [header] = (await readFile(output, 'utf8')).split('\r\n');
    expect(metadata.tableSchema.columns.map(({ titles }: { titles: string }) => titles)).toEqual(header?.split(','));
  });

  it('are in Parquet metadata, in a file or on stdout, and wide integers are exact', async () => {
    const sql = 'SELECT sum(item_id) AS total, max(price) AS price FROM items; -- all of them';
    const output = join(folder, "it's.parquet");
    const request = { lake, memory: '1GB', sql, format: 'parquet' } as const;
    expect(await runQuery({ ...request, output }, openContext())).toMatchObject({ rows: 1n, attribution: [CREDIT] });
    const { bytes } = await act(runQuery, request);
    expect(bytes.equals(await readFile(output))).toBe(true);
    const buffer = new Uint8Array(bytes).buffer;
    const metadata = parquetMetadata(buffer);
    expect(metadata.key_value_metadata).toContainEqual({ key: 'attribution', value: JSON.stringify([CREDIT]) });
    expect(metadata.schema.map(({ name, precision, scale }) => [name, precision, scale]).slice(1)).toEqual([
      ['total', 38, 0],
      ['price', 18, 4],
    ]);
    await showSpread({ lake, ...ALL, format: 'parquet', output: join(folder, 's.parquet') }, openContext());
    const spreads = parquetMetadata(new Uint8Array(await readFile(join(folder, 's.parquet'))).buffer);
    expect(spreads.num_rows).toBe(5n);
  });

  it("don't allow printing bytes on a terminal", async () => {
    const terminal = { ...openContext(), output: new MemoryOutput(80) };
    const refused = runQuery({ lake, memory: '1GB', sql: 'SELECT 1', format: 'parquet' }, terminal);
    await expect(refused).rejects.toMatchObject({
      code: 'usage',
      message: "can't write --format parquet to a terminal",
    });
  });
});

describe('query of an analysis', () => {
  const request = { lake, memory: '1GB' };
  const DAYS = Object.entries({ first_day: '2026-11-19', last_day: '2026-11-20' });

  it('runs the shipped analyses with variables', async () => {
    const set = Object.entries({ top: '1', brand: 'acme' });
    const { rows } = await actJson(runQuery, { ...request, analysis: 'widest_spreads', set });
    expect(rows).toMatchObject([{ product_id: 'pot' }]);
    const prices = await actJson(runQuery, { ...request, analysis: 'offer_prices', set: DAYS });
    expect(prices.row_count).toBeGreaterThan(5);
  });

  it('requires exchange rates for an analysis that needs them', async () => {
    const without = runQuery({ ...request, analysis: 'law_of_one_price', format: 'ndjson' }, openContext());
    await expect(without).rejects.toMatchObject({ code: 'query', facts: { hint: expect.stringContaining('--fx') } });
  });
});
