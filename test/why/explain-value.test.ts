import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runHere } from '../cli/pricelake.js';
import { openStory } from '../front/story.js';

interface Word {
  kind: string;
  value: string | null;
  run_id: string;
  change?: { id: string; kind: string; origin: string };
  place?: { file: string; line: number };
  raw?: string;
}
interface Value {
  column: string;
  value: string | null;
  how: string;
  by?: Word;
  note?: string;
}
interface Told {
  rows: Value[][];
  others: Word[];
  from: { item_id: string; price: string; is_counted: boolean; behind?: Value }[];
}

const story = await openStory();
story.pipeline.landing.keep = 1e12;
story.at('17 08:00');
const radio = { brand: 'Acme', mpn: 'R-1', title: 'Rádio Nôtre 7', category: null };
story.add({ ...radio, siteId: 11n, price: 10_000, url: 'https://shop.example/radio' });
story.add({ ...radio, siteId: 22n, price: 11_000 });
const third = story.add({ ...radio, siteId: 33n, price: 10_500 });
const beads = Array.from({ length: 8 }, (_, n) =>
  story.add({ brand: 'Bead', mpn: `B-${n}`, title: `Bead ${n}`, siteId: 44n, price: 10 + n }),
);
const jump = story.add({ brand: 'Jump', mpn: 'J-1', title: 'Jumping price', siteId: 44n, price: 5_000 });
for (let n = 0; n < 12; n += 1)
  story.add({
    brand: 'Many',
    mpn: 'M-1',
    title: 'Many',
    siteId: 11n + 11n * BigInt(n % 4),
    price: n < 11 ? 6000 : 6300,
  });
await story.run();
for (const [time, price] of [
  ['18 08:00', 500_000],
  ['18 09:00', 5_000],
  ['18 10:00', 5_100],
] as const) {
  story.at(time);
  story.change(jump, { price });
}
await story.run();
story.at('19 09:00');
story.change(third, { price: 8_000 });
if (beads[0] !== undefined) story.change(beads[0], { price: 99, url: 'https://shop.example/bead' });
await story.run();
const { lakePath } = story;
afterAll(() => story.close());
const [run1 = '', run2 = '', run3 = ''] = await story.read('SELECT run_id FROM runs ORDER BY run_number');
const [moved = ''] = await story.read("SELECT item_id FROM items WHERE site_id = 33 AND product_id = 'acme-r1'");
// An item with a change of more than the price is read completely.
const [bead = ''] = await story.read("SELECT item_id FROM items WHERE product_id = 'bead-b0'");
const [jumped = ''] = await story.read("SELECT item_id FROM items WHERE product_id = 'jump-j1'");

async function why(...args: string[]): Promise<Told> {
  const { stdout, stderr } = await runHere(['why', ...args, '--lake', lakePath, '--json']);
  const told = JSON.parse(stdout || '{}') as Told & { ok?: boolean };
  if (told.ok !== true) throw new Error(stderr);
  return told;
}
const first = async (...args: string[]) => (await why(...args)).rows[0]?.[0];

/** Reads the text of a landed line. */
const readLine = async ({ place }: Word) =>
  (await readFile(join(lakePath, place?.file ?? ''), 'utf8')).split('\n')[(place?.line ?? 0) - 1] ?? '';

test('a value of an item that was read completely after a change is traced to that read, and names the change', async () => {
  const { rows, others } = await why('items', bead, 'price');
  expect(rows[0]?.[0]).toMatchObject({ value: '0.9900', how: 'read', by: { run_id: run3, raw: '0.99' } });
  expect(rows[0]?.[0]?.by?.place?.file).toMatch(/hydrate-00001\.ndjson$/u);
  expect(others[0]).toMatchObject({ kind: 'change', value: '0.9900', run_id: run3 });
});

describe('a value that a change set', () => {
  test('is traced to the line of the feed, with its raw text and earlier values', async () => {
    const { rows, others } = await why('items', moved, 'price');
    const [value] = rows[0] ?? [];
    expect(value).toMatchObject({ value: '80.0000', how: 'change', by: { run_id: run3, raw: '80' } });
    expect(value?.by?.change).toMatchObject({ kind: 'CHANGED', origin: 'feed' });
    const line = JSON.parse(await readLine(value?.by as Word)) as Record<string, unknown>;
    expect(line).toMatchObject({ id: Number(value?.by?.change?.id), price: 80, previousPrice: 105 });
    expect(others.map(({ kind, value: said, run_id }) => [kind, Number(said), run_id])).toEqual(
      expect.arrayContaining([['read', 105, run1]]),
    );
  });

  test('is traced to the last of several changes', async () => {
    const { rows, others } = await why('items', jumped, 'price');
    expect(rows[0]?.[0]).toMatchObject({ value: '51.0000', how: 'change', by: { run_id: run2 } });
    expect(others.filter(({ kind }) => kind === 'change').map(({ value }) => Number(value))).toContain(5000);
  });
});

test('a value from a complete read is traced to the row of the export', async () => {
  const value = await first('items', moved, 'brand');
  expect(value).toMatchObject({ value: 'Acme', how: 'read', by: { kind: 'read', run_id: run1, raw: '"Acme"' } });
  expect(JSON.parse(await readLine(value?.by as Word))).toMatchObject({ id: Number(moved), brand: 'Acme' });
});

test('every value of every item has an origin, and its raw text is in the landed line', async () => {
  const ids = (await story.read('SELECT item_id FROM items ORDER BY item_id LIMIT 8')).concat(moved, jumped);
  for (const id of ids) {
    const { rows } = await why('items', id);
    for (const { column, value, how, by } of rows[0] ?? []) {
      expect([column, ['change', 'read', 'computed'].includes(how)]).toEqual([column, true]);
      if (how === 'computed') continue;
      expect([column, by?.place !== undefined]).toEqual([column, true]);
      const line = await readLine(by as Word);
      expect(line).toContain(id);
      if (by?.raw !== undefined) expect(line).toContain(by.raw);
      else expect([column, value]).toEqual([column, null]);
    }
  }
});

test('a history row is traced to its change', async () => {
  const [id = ''] = await story.read(`SELECT change_id FROM history WHERE item_id = ${moved} AND price = 80`);
  const { rows } = await why('history', id);
  const values = new Map(rows[0]?.map((one) => [one.column, one]));
  expect(values.get('previous_price')).toMatchObject({ value: '105.0000', how: 'change', by: { run_id: run3 } });
  expect(values.get('observed_date')?.how).toBe('computed');
});

test('computed values name the rows that they are computed from', async () => {
  expect(await first('items', moved, 'product_id')).toMatchObject({ value: 'acme-r1', how: 'computed' });
  expect(await first('offers', moved, 'is_counted')).toMatchObject({ how: 'computed' });
  expect(await first('offers', moved, 'price')).toMatchObject({ how: 'change', by: { run_id: run3 } });
  const { rows, from } = await why('price_spread', 'acme-r1', 'trusted_min');
  expect(rows[0]?.[0]).toMatchObject({ how: 'computed', note: expect.stringContaining('price_spread.sql') });
  expect(from.map(({ price }) => Number(price))).toEqual([80, 100, 110]);
});

describe('a computed value is traced through its listings', () => {
  const readBehind = async (...args: string[]) =>
    (await why(...args)).from.map(
      ({ behind }) => behind && [behind.column, behind.value, behind.how, behind.by?.run_id],
    );

  test('from a spread to the prices and the lines that set them', async () => {
    expect(await readBehind('price_spread', 'acme-r1', 'trusted_max')).toEqual([
      ['price', '80.0000', 'change', run3],
      ['price', '100.0000', 'read', run1],
      ['price', '110.0000', 'read', run1],
    ]);
    const { from } = await why('price_spread', 'acme-r1', 'trusted_min');
    const line = JSON.parse(await readLine(from[0]?.behind?.by as Word)) as Record<string, unknown>;
    expect(line).toMatchObject({ price: 80, previousPrice: 105 });
  });

  test('from a product to the listing that has its title', async () => {
    expect(await readBehind('products', 'acme-r1', 'brand')).toEqual(Array(3).fill(['brand', 'Acme', 'read', run1]));
    const { stdout } = await runHere(['why', 'products', 'acme-r1', 'title', '--lake', lakePath]);
    expect(stdout).toMatch(/from {5}item \d+, 80\.0000 EUR\n {13}title: a read of the item at .* line \d+\n/u);
  });

  test('from an offer to its price or its attributes', async () => {
    expect(await readBehind('offers', moved, 'is_counted')).toEqual([['price', '80.0000', 'change', run3]]);
    expect(await readBehind('offers', moved, 'condition')).toEqual([['attributes', '{}', 'read', run1]]);
  });

  test('and of many listings, the first ten that have the value come first', async () => {
    const known = (await why('price_spread', 'many-m1', 'max')).from.map(({ behind }) => behind?.value);
    expect(known).toHaveLength(12);
    expect(known.filter((value) => value !== undefined)).toHaveLength(10);
    expect(known.at(-1)).toBe('63.0000');
  });
});

test('the text output shows the same origin', async () => {
  const { stdout } = await runHere(['why', 'items', moved, 'price', '--lake', lakePath]);
  expect(stdout).toMatch(
    /^items \d+ price = 80\.0000\n {2}set by {3}change \d+ \(CHANGED, feed\) of 2026-11-19T\S+, run 000003-\S+ _pricelake\/landing\/000003-\S+\/feed\.ndjson line 1\n {2}raw {6}80\n {2}also/u,
  );
});

test('a missing column or row is an error with a suggestion', async () => {
  await expect(why('items', moved, 'prise')).rejects.toThrow(/items has no column prise[\s\S]*Did you mean price\?/u);
  await expect(why('items', '1', 'price')).rejects.toThrow('items has no row with item_id 1');
  await expect(why('items', 'x; DROP', 'price')).rejects.toThrow('items has no row with item_id x; DROP');
});

test('if the landed bytes were removed, the explanation says so', async () => {
  await rm(join(lakePath, '_pricelake/landing', run1), { recursive: true });
  await rm(join(lakePath, '_pricelake/landing', run3), { recursive: true });
  const price = await first('items', moved, 'price');
  expect(price).toMatchObject({ how: 'change', by: { run_id: run3 }, note: expect.stringMatching(/no longer kept/u) });
  expect(price?.by).not.toHaveProperty('place');
  const brand = await first('items', moved, 'brand');
  expect(brand).toMatchObject({
    value: 'Acme',
    how: 'read',
    note: expect.stringMatching(/read in full at .* no longer kept/u),
  });
  expect(brand).not.toHaveProperty('by');
});
