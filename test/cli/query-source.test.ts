import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { openStory, type Story } from '../front/story.js';
import { runHere } from './pricelake.js';

let story: Story;
let folder: string;
beforeAll(async () => {
  story = await openStory();
  story.pipeline.lake.retention = 86_400_000;
  story.at('10 08:00');
  const pen = story.add({ brand: 'Acme', mpn: 'P-1', siteId: 11n, price: 1_000 });
  story.add({ brand: 'Acme', mpn: 'P-1', siteId: 22n, price: 1_200 });
  await story.run();
  story.at('11 08:00');
  story.change(pen, { price: 900 });
  await story.run();
  story.at('12 08:00');
  story.change(pen, { price: 800 });
  await story.run();
  folder = dirname(story.lakePath);
});
afterAll(() => story.close());

const query = (...args: string[]) => runHere(['query', '--lake', story.lakePath, ...args]);
const PRICE = 'SELECT price::VARCHAR AS price FROM items ORDER BY item_id LIMIT 1';
const priceOf = async (...args: string[]) => JSON.parse((await query(PRICE, '--json', ...args)).stdout).rows[0].price;

test('--as-of reads the tables as they were after a run', async () => {
  expect(await priceOf()).toBe('8.0000');
  expect(await priceOf('--as-of', '2')).toBe('9.0000');
  expect(await priceOf('--as-of', '1')).toBe('10.0000');
  const spells = 'SELECT count(*) AS n FROM price_spells';
  const count = async (...args: string[]) => JSON.parse((await query(spells, '--json', ...args)).stdout).rows[0].n;
  expect([await count('--as-of', '1'), await count('--as-of', '2'), await count()]).toEqual([2, 3, 4]);
});

test("--as-of refuses a run that the lake doesn't have or no longer keeps", async () => {
  const { code, stderr } = await query(PRICE, '--as-of', '9');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/the lake has no run 9; its newest run is 3/u)]);
  const other = await openStory();
  other.add({ price: 100 });
  await other.run();
  other.change([...other.world.items.values()][0] as never, { price: 200 });
  await other.run();
  const gone = await runHere(['query', '--lake', other.lakePath, PRICE, '--as-of', '1']);
  await other.close();
  expect(gone.stderr).toMatch(/no longer has the files of \w+ as of run 1\n.*lake\.retention/u);
});

test('--explain-source prints versions, settings, files and SQL instead of rows', async () => {
  const weights = join(folder, 'weights.csv');
  await writeFile(weights, 'shop,weight\n11,1\n22,3\n');
  const args = ['--analysis', 'weighted_index', '--weights', weights, '--set', 'period=day', '--explain-source'];
  const { source } = JSON.parse((await query(...args, '--json')).stdout);
  expect(source).toMatchObject({
    run: 3,
    settings: { by: 'shop', period: 'day' },
    pricelake: expect.stringMatching(/^\d/u),
  });
  expect(source.versions).toHaveProperty('items', expect.any(Number));
  expect(source.files).toEqual({
    weights: createHash('sha256')
      .update(await readFile(weights))
      .digest('hex'),
  });
  expect(source.sql).toContain('settings AS MATERIALIZED');
  const past = JSON.parse((await query(...args, '--json', '--as-of', '2')).stdout).source;
  expect(past.run).toBe(2);
  expect(past.versions.items).toBeLessThan(source.versions.items);
  const { stdout } = await query(PRICE, '--explain-source');
  expect(stdout).toMatch(/^run: 3$/mu);
  expect(stdout).toContain(PRICE);
});

test('Parquet and Arrow files contain their source in the metadata', async () => {
  const parquet = join(folder, 'out.parquet');
  expect((await query(PRICE, '--format', 'parquet', '--output', parquet)).code).toBe(0);
  const db = await Database.open();
  const row = await db.row(
    `SELECT decode(value) AS source FROM parquet_kv_metadata('${parquet}') WHERE decode(key) = 'source'`,
  );
  db.close();
  expect(JSON.parse(String(row?.source))).toMatchObject({
    run: 3,
    sql: PRICE,
    versions: { items: expect.any(Number) },
  });
  const arrow = join(folder, 'out.arrows');
  expect((await query(PRICE, '--format', 'arrow', '--output', arrow, '--as-of', '1')).code).toBe(0);
  const table = tableFromIPC(await readFile(arrow));
  expect(JSON.parse(table.schema.metadata.get('source') ?? '')).toMatchObject({ run: 1, sql: PRICE });
});
