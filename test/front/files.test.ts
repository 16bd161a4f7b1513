/** The files that a run rewrites, and the counts that it continues from. */
import { createHash, randomUUID } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { step } from '../sim/life.js';
import { expectSound, openSimulation } from '../sim/simulation.js';
import type { Item } from '../sim/world.js';
import { listPublishedFiles } from './published-files.js';
import { openStory, type Story, type StoryOptions } from './story.js';

async function openCopied(options: StoryOptions, items: number): Promise<Story> {
  const story = await openStory(options);
  onTestFinished(() => story.close());
  story.at('07:00');
  for (let n = 0; n < items; n++) story.add({ title: `Pen ${n}` });
  story.at('08:00');
  await story.run();
  return story;
}

const listFiles = ({ lakePath }: Story) => listPublishedFiles(lakePath).get('items') ?? [];

/** OPTIMIZE by another program, which splits the rows of the only file into two files, the second with only the first row. */
async function splitItems(story: Story): Promise<[large: string, small: string]> {
  const folder = path.join(story.lakePath, 'items');
  const [file = ''] = listFiles(story);
  const instance = await DuckDBInstance.create();
  const db = await instance.connect();
  const actions: object[] = [{ commitInfo: { timestamp: 0, operation: 'OPTIMIZE', engineInfo: 'delta-rs:py-1.6.6' } }];
  actions.push({ remove: { path: path.basename(file), dataChange: false, deletionTimestamp: 0 } });
  const names: string[] = [];
  for (const where of ['item_id > first', 'item_id = first']) {
    const name = `${randomUUID()}.parquet`;
    const rows = `(SELECT *, min(item_id) OVER () AS first FROM read_parquet('${file}')) WHERE ${where}`;
    await db.run(`COPY (SELECT * EXCLUDE (first) FROM ${rows}) TO '${path.join(folder, name)}' (FORMAT parquet)`);
    const [[count] = []] = (await db.runAndReadAll(`SELECT count(*)::INTEGER FROM ${rows}`)).getRows();
    const { size } = statSync(path.join(folder, name));
    const stats = JSON.stringify({ numRecords: count });
    const sha256 = createHash('sha256')
      .update(readFileSync(path.join(folder, name)))
      .digest('hex');
    const add = {
      path: name,
      partitionValues: {},
      size,
      modificationTime: 0,
      dataChange: false,
      stats,
      tags: { 'pricelake.sha256': sha256 },
    };
    actions.push({ add });
    names.push(path.join(folder, name));
  }
  db.closeSync();
  instance.closeSync();
  const log = path.join(folder, '_delta_log');
  const next = readdirSync(log).filter((name) => name.endsWith('.json')).length;
  const lines = actions.map((action) => `${JSON.stringify(action)}\n`).join('');
  writeFileSync(path.join(log, `${String(next).padStart(20, '0')}.json`), lines);
  return names as [string, string];
}

test('new listings are written to the smallest file, and other files are unchanged', async () => {
  const story = await openCopied({ partitionBy: [] }, 200);
  const [large, small] = await splitItems(story);
  story.at('09:00');
  story.add({ title: 'Rug' });
  await story.run();
  expect(listFiles(story)).toContain(large);
  expect(listFiles(story)).not.toContain(small);
  expect(listFiles(story)).toHaveLength(2);
  expect(await story.read('SELECT count(*), count(DISTINCT item_id) FROM items')).toEqual(['201 | 201']);
});

test("files keep the lake's partitioning if the pipeline file no longer sets it", async () => {
  const story = await openStory({ partitionBy: ['currency'] });
  onTestFinished(() => story.close());
  story.at('08:00');
  const items = ['EUR', 'CZK'].map((currency) => story.add({ currency, price: 100 }));
  await story.run();
  story.pipeline.lake.tables = {};
  story.at('09:00');
  // Both files are rewritten.
  for (const item of items) story.change(item, { price: 200 });
  await story.run();
  const names = listFiles(story).map((file) => path.basename(file).split('.')[0]);
  expect(names.sort()).toEqual(['currency-CZK', 'currency-EUR']);
});

test('a large file contains all rows, including changed rows, after each run', async () => {
  const story = await openStory({ partitionBy: [] });
  onTestFinished(() => story.close());
  story.at('07:00');
  const items = Array.from({ length: 20_000 }, (_, n) => story.add({ title: `Pen ${n}`, price: 1000 }));
  story.at('08:00');
  await story.run();
  story.at('09:00');
  story.change(items[9] as Item, { price: 900 });
  story.remove(items[10] as Item);
  await story.run();
  expect(listFiles(story)).toHaveLength(1);
  story.at('10:00');
  for (const title of ['Rug', 'Mat']) story.add({ title, price: 250 });
  story.change(items[19_999] as Item, { price: 1100 });
  await story.run();
  // 19,998 cost 10.00, one 9.00, one 11.00, and two 2.50.
  const sums = 'SELECT count(DISTINCT item_id), sum(price), count(removed_at) FROM items';
  expect(await story.read(sums)).toEqual(['20002 | 200005.0000 | 1']);
  expect(listFiles(story)).toHaveLength(1);
  await expectSound(story);
});

test("a kept count that can't be right, or is from older tables, is recomputed from all rows", async () => {
  const story = await openCopied({}, 0);
  story.pipeline.checks.price_with_currency = { severity: 'warn' };
  const found = async () => {
    const { checks } = await story.run();
    return checks.find(({ name }) => name === 'price_with_currency')?.violations;
  };
  story.at('09:00');
  const [pen, cup] = [1, 2, 3, 4].map(() => story.add({ currency: null }));
  expect(await found()).toBe(4n);
  const file = path.join(story.lakePath, '_pricelake', 'memory.ndjson');
  const kept = readFileSync(file, 'utf8');
  const wrong = kept.replaceAll(String.raw`\"violations\":\"4\"`, String.raw`\"violations\":\"2\"`);
  expect(wrong).not.toBe(kept);
  writeFileSync(file, wrong);
  story.at('10:00');
  story.change(pen as Item, { currency: 'EUR' });
  expect(await found()).toBe(3n);
  writeFileSync(file, kept);
  story.at('11:00');
  story.change(cup as Item, { currency: 'EUR' });
  expect(await found()).toBe(2n);
});

test('a gate with a single violation holds the batch until a user overrides it', async () => {
  const story = await openCopied({}, 1);
  const { pipeline, io } = story;
  pipeline.checks.currency_iso_4217 = { severity: 'gate' };
  story.at('09:00');
  story.add({ currency: 'XXQ' });
  await expect(story.run()).rejects.toMatchObject({ code: 'gate_failed' });
  expect(await story.read('SELECT currency FROM items')).toEqual(['EUR']);
  await syncWithWings(pipeline, io, undefined, { publishHeld: true });
  expect(await story.read('SELECT currency FROM items ORDER BY ALL')).toEqual(['EUR', 'XXQ']);
  expect(await story.read('SELECT name FROM check_results WHERE let_through')).toEqual(['currency_iso_4217']);
});

test("checks that continue from the previous run's counts find the same as checks of all rows", async () => {
  const simulation = await openSimulation({ seed: 5, items: 60, habits: { gtins: 'also 12 and 8', skewMs: 90_000 } });
  onTestFinished(() => simulation.close());
  const { world, pipeline, io, lakePath } = simulation;
  // Two offers with the same page, and one without a currency.
  const [a, b, c] = world.visibleItems() as [Item, Item, Item];
  Object.assign(a, { url: 'https://shop.example/1', siteId: b.siteId, price: 5 });
  Object.assign(b, { url: 'https://shop.example/1', price: 6 });
  Object.assign(c, { currency: null, price: 7 });
  for (const item of [a, b, c]) world.keep(item);
  pipeline.checks = {};
  pipeline.proof = { sample: 0, products: false, facets: false };
  await simulation.sync();
  const found = new Set<string>();
  for (let round = 1; round <= 3; round++) {
    for (let n = 0; n < 8; n++) step(world);
    world.settle();
    const fresh = `${lakePath}-${round}`;
    cpSync(lakePath, fresh, { recursive: true });
    rmSync(path.join(fresh, '_pricelake', 'memory.ndjson'));
    const over = await syncWithWings({ ...pipeline, lake: { ...pipeline.lake, path: fresh } }, io);
    const counts = ({ checks }: RunReport) =>
      checks
        .filter(({ name }) => name !== 'ledger_matches_plan')
        .map(({ name, violations }) => `${name} ${violations}`);
    const kept = await simulation.sync();
    expect(counts(kept)).toEqual(counts(over));
    for (const { name, violations } of kept.checks) if (violations > 0n) found.add(name);
  }
  // Without violations, the comparison would prove nothing.
  const some = ['gtin_check_digit', 'offer_duplicate', 'price_jump', 'price_with_currency'];
  expect([...found]).toEqual(expect.arrayContaining(some));
});
