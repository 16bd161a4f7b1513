import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../src/sandbox/clock.js';
import { advanceWorld } from '../../src/sandbox/world/advance-world.js';
import { generateWorld } from '../../src/sandbox/world/generate-world.js';
import { World } from '../../src/sandbox/world/world.js';
import { quoteLiteral } from '../../src/sql/quote.js';

const ITEMS = 6000;
const START = Date.parse('2026-11-20T06:00:00Z');
const world = await World.create();
await generateWorld(world, { seed: 1, items: ITEMS, sites: 32, startAt: START, pastDays: 90 });
world.livedUntil = START;
await readMoves();
afterAll(() => world.close());

/** Reads every price change as a client sees it, together with the next one. */
function readMoves(): Promise<void> {
  const path = quoteLiteral(join(world.directory, 'changes.json'));
  const sql = `CREATE OR REPLACE TABLE moves AS SELECT *, lead(price) OVER by_item AS next, lead(t) OVER by_item - t AS lasted FROM (
    SELECT f.id, observedAt AS t, previousPrice AS old, f.price, i.product_key, i.site_id, i.n
    FROM read_json(${path}, format = 'newline_delimited', columns = {id: 'BIGINT', observedAt: 'TIMESTAMP',
      price: 'DECIMAL(18,4)', previousPrice: 'DECIMAL(18,4)', item: 'STRUCT(id BIGINT)'}) f
    JOIN items i ON i.item_id = f.item.id WHERE previousPrice IS NOT NULL)
    WINDOW by_item AS (PARTITION BY n ORDER BY id)`;
  return world.database.use((session) => session.run(sql));
}

async function read(sql: string): Promise<number> {
  const row = await world.database.use((session) => session.row(`SELECT (${sql})::DOUBLE AS value`));
  return row?.value as number;
}
const countItems = (condition: string) => read(`SELECT count(*) FROM items WHERE ${condition}`);

describe('listings are as faulty as those of real shops', () => {
  it.each([
    ['a formula', "title[1] IN ('=', '+', '-', '@')", 0.005, 0.03],
    ['only a formula', "title LIKE '=1+1%'", 0.001, 0.006],
    ['HTML', "regexp_matches(title, '<\\w+.*>')", 0.003, 0.02],
    ['a script', "contains(title, '<script>')", 0.001, 0.006],
    ['entities', "regexp_matches(title, '&\\w+;')", 0.002, 0.02],
    ['quotes', `title[1] = '"' AND contains(title, '\\')`, 0.001, 0.006],
    ['backslashes', "contains(title, '\\')", 0.001, 0.02],
    ['newlines', 'contains(title, chr(10)) AND contains(title, chr(13))', 0.001, 0.006],
    ['a line separator', 'contains(title, chr(8232))', 0.001, 0.006],
    ['invisible characters', 'title[1] = chr(65279) AND contains(title, chr(8203))', 0.001, 0.006],
    ['spaces around its text', "title LIKE '  %' AND title LIKE '%' || chr(160)", 0.001, 0.006],
    ['emoji of several code points', "contains(title, '🧑‍🚀')", 0.001, 0.006],
    ['right-to-left text', "regexp_matches(title, '[\\x{0590}-\\x{06FF}]')", 0.002, 0.012],
    ['accents on their own', 'contains(title, chr(776))', 0.001, 0.006],
    ['wrongly decoded bytes', "contains(title, 'Ã¼')", 0.001, 0.006],
    ['more than 2,000 characters', 'length(title) > 2000', 0.001, 0.006],
    ['no characters', "title = ''", 0.001, 0.006],
    ['a word that stands for a missing value', "title IN ('null', 'N/A')", 0.002, 0.012],
  ])('some titles contain %s', async (_, condition, low, high) => {
    const share = (await countItems(condition)) / ITEMS;
    expect(share).toBeGreaterThan(low);
    expect(share).toBeLessThan(high);
  });

  it.each(['title', 'brand', 'mpn', 'gtin', 'price', 'currency', 'url', 'image', 'category_id'])(
    '%s is missing in some listings, but not in most',
    async (column) => {
      const missing = await countItems(`${column} IS NULL`);
      expect(missing).toBeGreaterThan(10);
      expect(missing).toBeLessThan(ITEMS / 2);
    },
  );

  it('some listings lack every optional value', async () => {
    const bare = await countItems(`title IS NULL AND brand IS NULL AND mpn IS NULL AND gtin IS NULL AND price IS NULL
      AND currency IS NULL AND url IS NULL AND image IS NULL AND category_id IS NULL AND attributes = '{}'`);
    expect(bare / ITEMS).toBeGreaterThan(0.001);
    expect(bare / ITEMS).toBeLessThan(0.005);
  });

  it.each([
    ['JSON', 'json_valid(attributes)', 1],
    ['none', "attributes = '{}'", 0.01],
    ['a text where other listings have a number', `json_type(attributes, '$.stock') NOT IN ('UBIGINT', 'NULL')`, 0.01],
    ['null', "json_type(attributes, '$.shipping') = 'NULL'", 0.05],
    ['a list', "json_type(attributes, '$.colours') = 'ARRAY'", 0.05],
    ['an object', "json_type(attributes, '$.dimensions') = 'OBJECT'", 0.05],
    ['values within values', `json_type(attributes, '$.specs.power.ranges[1][1]') = 'NULL'`, 0.001],
    ['integers beyond a double', `contains(attributes, '"articleNumber":90071992547')`, 0.05],
    ['numbers beyond every type', "contains(attributes, ':123456789012345678901234567890,')", 0.001],
    ['names of an Item’s own fields', `contains(attributes, '"price":"ab 9,99 €","id":7,"title":null')`, 0.001],
    ['names that are hard to write', `contains(attributes, '"":"","größe / \\"Maß\\""')`, 0.001],
    ['HTML', "contains(attributes, '<ul><li>')", 0.001],
    ['control characters', "contains(attributes, '\\u0007')", 0.001],
    ['a very long text', 'length(attributes) > 9000', 0.001],
  ])('attributes contain %s', async (_, condition, low) => {
    expect((await countItems(condition)) / ITEMS).toBeGreaterThanOrEqual(low);
  });
});

describe('listings have the faults that docs/concepts/sandbox.md describes', () => {
  const used = "regexp_matches(title, 'gebraucht|occasion|používané|usato|używany|second hand')";
  const repaired = "regexp_matches(title, 'refurbished|generalüberholt|reconditionné')";
  /** Returns the median ratio of the prices to the product's median price. */
  const ratio = (where: string) =>
    read(`SELECT median(price / usual) FROM items JOIN (SELECT product_key, currency, median(price) AS usual FROM items
      GROUP BY ALL HAVING count(*) > 2) USING (product_key, currency) WHERE ${where}`);

  it.each([
    ['used or refurbished by their title', `${used} OR ${repaired}`, 1 / 80],
    ['used or refurbished by an attribute alone', `contains(attributes, '"condition":') AND NOT ${used}`, 1 / 80],
  ])('some listings are %s', async (_, condition, share) => {
    const found = (await countItems(condition)) / ITEMS;
    expect(found).toBeGreaterThan(share * 0.6);
    expect(found).toBeLessThan(share * 1.5);
    expect(await ratio(condition)).toBeGreaterThan(0.35);
    expect(await ratio(condition)).toBeLessThan(0.8);
  });

  it('some listings have the words of one product and the GTIN of another, with either price', async () => {
    // Titles hold the part number of the catalog.
    const wrong = `FROM items JOIN catalog c ON ltrim(c.gtin, '0') = product_key
      WHERE NOT contains(title, c.mpn) AND title[1] NOT IN ('=') AND length(title) > 20 AND NOT regexp_matches(title, 'Ã|\u00ad|\u200b')`;
    const share = (await read(`SELECT count(*) ${wrong}`)) / ITEMS;
    expect(share).toBeGreaterThan(0.002);
    expect(share).toBeLessThan(0.012);
  });

  it('shops report stock as numbers or words, and items run out over time', async () => {
    const names = (condition: string) => read(`SELECT count(DISTINCT site_id) FROM items WHERE ${condition}`);
    const words = `contains(attributes, '"availability":"https://schema.org/')`;
    expect(await names(words)).toBeGreaterThan(5);
    expect(await names(`contains(attributes, '"stock":')`)).toBeGreaterThan(15);
    expect(await countItems(`${words} AND contains(attributes, '"stock":')`)).toBe(0);
    const path = quoteLiteral(join(world.directory, 'changes.json'));
    const count = (pattern: string) =>
      read(
        `SELECT count(*) FROM read_text(${path}), LATERAL (SELECT unnest(regexp_extract_all(content, '${pattern}')))`,
      );
    expect(await count('"stock":\\[[1-9][0-9]*,0\\]')).toBeGreaterThan(10);
    expect(
      await count('"availability":\\["https://schema.org/InStock","https://schema.org/OutOfStock"\\]'),
    ).toBeGreaterThan(10);
    expect(
      await count('"availability":\\["https://schema.org/OutOfStock","https://schema.org/InStock"\\]'),
    ).toBeGreaterThan(3);
  });

  it('reductions refer to the earlier price, or to one that was raised before', async () => {
    const regular = `(attributes->>'$.regularPrice')::DECIMAL(18,4)`;
    const told = `contains(attributes, '"regularPrice":') AND price > 0`;
    expect(await countItems(`${told} AND price < ${regular} AND usual_price = ${regular}`)).toBeGreaterThan(10);
    expect(await countItems(`${told} AND price < ${regular} AND usual_price IS NULL`)).toBeGreaterThan(3);
    expect((await countItems(`${told} AND price = ${regular}`)) / (await countItems(told))).toBeGreaterThan(0.8);
  });

  it('delivery costs an amount or nothing, or the cost is unknown', async () => {
    for (const type of ['DOUBLE', 'UBIGINT', 'VARCHAR', 'NULL']) {
      expect(await countItems(`json_type(attributes, '$.shipping') = '${type}'`), type).toBeGreaterThan(10);
    }
    expect(await countItems(`attributes <> '{}' AND json_type(attributes, '$.shipping') IS NULL`)).toBeGreaterThan(10);
  });
});

describe('prices move like those of a market', () => {
  it('random properties of one listing are independent of each other', async () => {
    for (const [one, other] of [
      ['length(title) % 2', 'site_id // 2 % 2'],
      ['price::INTEGER % 2', '(image IS NULL)::INTEGER'],
      ['(gtin IS NULL)::INTEGER', '(mpn IS NULL)::INTEGER'],
    ]) {
      expect(Math.abs(await read(`SELECT corr(${one}, ${other}) FROM items WHERE title IS NOT NULL`))).toBeLessThan(
        0.06,
      );
    }
  });

  it('discounts end at the earlier price, mostly within two weeks', async () => {
    const falls = 'SELECT count(*) FROM moves WHERE price < old AND next IS NOT NULL AND price > old / 5';
    const back = await read(`${falls} AND next = old`);
    expect(back / (await read(falls))).toBeGreaterThan(0.3);
    expect(await read(`SELECT epoch(median(lasted)) / 86400 FROM moves WHERE price < old AND next = old`)).toBeLessThan(
      14,
    );
    // Discounts are 5, 10, 15… percent, with prices rounded as a shop would write them.
    expect(
      await read('SELECT count(*) FILTER (round(price / old * 20) = price / old * 20) / count(*) FROM moves'),
    ).toBeGreaterThan(0.01);
  });

  it('most other changes are below 20 percent, up and down', async () => {
    const share = (condition: string) => read(`SELECT count(*) FILTER (${condition}) / count(*) FROM moves`);
    expect(await share('abs(price / old - 1) < 0.2')).toBeGreaterThan(0.5);
    expect(await share('price > old')).toBeGreaterThan(0.3);
    expect(await share('price < old')).toBeGreaterThan(0.45);
  });

  it('shops follow each other within two days, by almost the same percentage', async () => {
    const sql = (
      what: string,
    ) => `SELECT ${what} FROM (SELECT count(*) AS changes, stddev(price / old) AS apart FROM moves
      WHERE price < old * 5 AND price > old / 5 AND product_key IS NOT NULL
      GROUP BY product_key, epoch_ms(t) // 172800000 HAVING count(DISTINCT site_id) >= 2)`;
    expect((await read(sql('sum(changes)'))) / (await read('SELECT count(*) FROM moves'))).toBeGreaterThan(0.08);
    expect(await read(sql('median(apart)'))).toBeLessThan(0.03);
  });

  it('some prices are wrong by factors of 10 and 100, in both directions, and are corrected later', async () => {
    for (const factor of [0.01, 0.1, 10, 100]) {
      expect(await read(`SELECT count(*) FROM moves WHERE round(price / old, 3) = ${factor}`)).toBeGreaterThan(0);
    }
    const wrong = await countItems('price > usual_price * 5 OR usual_price > price * 5');
    expect(wrong).toBeGreaterThan(0);
    expect(wrong / ITEMS).toBeLessThan(0.006);
  });

  it('some packs have their own GTIN, and some are sold under the GTIN of a single unit', async () => {
    const cases = await countItems("length(gtin) = 14 AND gtin[1] <> '0' AND regexp_matches(title, '\\d+ x ')");
    expect(cases / ITEMS).toBeGreaterThan(0.005);
    const unit =
      "(SELECT product_key, currency, median(price) AS unit FROM items WHERE NOT contains(attributes, 'packSize') GROUP BY ALL)";
    const ratio = `(price / unit) / (attributes->>'$.packSize')::INTEGER`;
    const sql = (what: string) =>
      `SELECT ${what} FROM items JOIN ${unit} USING (product_key, currency) WHERE contains(attributes, 'packSize')`;
    expect(await read(sql('count(*)'))).toBeGreaterThan(3);
    expect(await read(sql(`median(${ratio})`))).toBeGreaterThan(0.7);
    expect(await read(sql(`median(${ratio})`))).toBeLessThan(1.2);
  });

  it('prices have the endings that are usual in their currency', async () => {
    const share = (condition: string, where: string) =>
      read(`SELECT count(*) FILTER (${condition}) / count(*) FROM items WHERE ${where}`);
    expect(await share('price % 1 IN (0.99, 0.95, 0.09)', "currency = 'EUR'")).toBeGreaterThan(0.5);
    expect(await share('price = floor(price)', "currency IN ('HUF', 'CZK') AND price > 100")).toBeGreaterThan(0.7);
  });
});

describe('while the clock advances', () => {
  it('prices keep moving: several shops change one product together, and discounts end', async () => {
    const clock = new SimulatedClock(new Date(START), 'frozen');
    for (let day = 0; day < 4; day++) await advanceWorld(world, clock, { hours: 24, changes: 900 });
    await readMoves();
    const fresh = `FROM moves WHERE t > '2026-11-20T06:00:00'`;
    const all = await read(`SELECT count(*) ${fresh}`);
    expect(all).toBeGreaterThan(2000);
    const together = `SELECT sum(changes) FROM (SELECT count(*) AS changes, count(DISTINCT site_id) AS shops, stddev(price / old) AS apart
      ${fresh} GROUP BY product_key, epoch_ms(t) // 86400000) WHERE shops >= 2 AND apart < 0.03`;
    expect((await read(together)) / all).toBeGreaterThan(0.08);
    expect(await read(`SELECT count(*) ${fresh} AND price < old AND next = old`)).toBeGreaterThan(20);
  });
});

describe('the catalog', () => {
  it('is a tree of three levels, and every leaf has listings', async () => {
    const { categories } = world.facts;
    const ids = new Set(categories.map(({ id }) => id));
    const parents = new Set(categories.map(({ parentId }) => parentId));
    expect(Math.max(...categories.map(({ path }) => path.split(' > ').length))).toBe(3);
    for (const parent of parents) expect(parent === null || ids.has(parent)).toBe(true);
    for (const id of ids) if (!parents.has(id)) expect(await countItems(`category_id = ${id}`)).toBeGreaterThan(0);
  });

  it('has products that many shops sell, and more products that one shop sells alone', async () => {
    const products = (having: string) =>
      read(`SELECT count(*) FROM (SELECT product_key FROM items WHERE product_key IS NOT NULL
      GROUP BY ALL HAVING count(DISTINCT site_id) ${having})`);
    const all = await products('>= 1');
    expect((await products('>= 5')) / all).toBeGreaterThan(0.05);
    expect((await products('= 1')) / all).toBeGreaterThan(0.2);
  });
});
