import type { DuckDBDecimalValue, DuckDBListValue } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sortByReads } from '../../src/analyze/derived-tables.js';
import { Database } from '../../src/sql/connection.js';
import { quoteIdentifier } from '../../src/sql/quote.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { createTable, derivedSelects } from '../check/lake-world.js';
import { listRelations } from '../list-relations.js';
import { makeWorld, type World } from './offer-world.js';
import { computeSpreads, findOldest, groupBy, listPriced, readSpread, sortAscending, units } from './slow-figures.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

const db = await Database.open();
afterAll(() => db.close());

/** Tables `items` and `sites` of a world, then the derived tables. */
async function derive(world: World): Promise<void> {
  for (const table of ['items', 'sites', 'sources', 'offer_rules', 'user_matches'] as const)
    await createTable(db, table);
  const offers = world.offers.map((o) => ({
    ...o,
    itemId: String(o.itemId),
    siteId: String(o.siteId),
    units: o.units === null ? null : String(o.units),
  }));
  await db.run(
    `INSERT INTO items BY NAME
     SELECT (o ->> 'itemId')::BIGINT AS item_id, o ->> 'productId' AS product_id, (o ->> 'siteId')::BIGINT AS site_id,
       ((o ->> 'units')::DECIMAL(18, 0) * 0.0001)::DECIMAL(18, 4) AS price, o ->> 'currency' AS currency,
       (o ->> 'listed')::BOOLEAN AS is_listed,
       CASE WHEN NOT is_listed THEN TIMESTAMPTZ '2026-05-01 00:00:00Z' END AS removed_at,
       TIMESTAMPTZ '2026-01-01 00:00:00Z' + INTERVAL 1 DAY * (o ->> 'firstSeen')::BIGINT AS first_seen_at,
       o ->> 'title' AS title, o ->> 'brand' AS brand, o ->> 'mpn' AS mpn,
       o ->> 'category' AS category_slug, o ->> 'category' AS category_name, o ->> 'category' AS category_path
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS o)`,
    [JSON.stringify(offers)],
  );
  for (const [id, text] of world.sites) {
    await db.run(
      "INSERT INTO sites (site_id, attribution, is_current, valid_from) VALUES ($1, $2, true, now()), ($1, 'old', false, 'epoch')",
      [id, text],
    );
  }
  for (const { table, select } of derivedSelects()) {
    await db.run(`CREATE OR REPLACE TABLE ${quoteIdentifier(table)} AS ${select}`);
  }
}

describe.each(SEEDS)('in the world of seed %i', (seed) => {
  const world = makeWorld(seed);
  beforeAll(() => derive(world));

  it('price spreads equal a slow computation to the last unit of money', async () => {
    const rows = await db.rows('SELECT * FROM price_spread');
    const expected = computeSpreads(world);
    expect(rows.map((row) => `${row.product_id}|${row.currency}`).sort()).toEqual([...expected.keys()].sort());
    for (const row of rows) {
      const slow = expected.get(`${row.product_id}|${row.currency}`);
      // Titles and brands also affect grades; judged-offers.test.ts tests that.
      const { stddev, grade: _grade, ...figures } = slow ?? expect.fail();
      const { grade: _made, ...made } = readSpread(row);
      expect({
        ...made,
        attribution: (row.attribution as DuckDBListValue).items,
      }).toEqual(figures);
      expect(units(row.spread)).toBe(figures.max - figures.min);
      expect(row.spread_pct).toBeCloseTo((100 * Number(figures.max - figures.min)) / Number(figures.min), 6);
      const deviation = (row.stddev as DuckDBDecimalValue).toDouble();
      expect(Math.abs(deviation - stddev)).toBeLessThanOrEqual(0.0001 + stddev * 1e-12);
      expect(row.run_id).toBe('r1');
    }
  });

  it('product prices are the range over listed offers with a price, including a price of zero', async () => {
    const rows = await db.rows('SELECT * FROM product_prices');
    const actual = rows.map((r) => [`${r.product_id}|${r.currency}`, units(r.min), units(r.max), Number(r.offers)]);
    const expected = [...groupBy(listPriced(world), (o) => `${o.productId}|${o.currency}`)].map(([key, offers]) => {
      const prices = sortAscending(offers.map((o) => o.units));
      return [key, prices[0], prices.at(-1), offers.length];
    });
    expect(actual.sort()).toEqual(expected.sort());
  });

  it('a product has the title of its oldest offer, and each other text of the oldest offer that has one', async () => {
    const rows = await db.rows('SELECT * FROM products');
    const listed = world.offers.filter((o) => o.listed && o.productId !== null);
    const groups = groupBy(listed, (o) => o.productId ?? '');
    expect(rows).toHaveLength(groups.size);
    for (const row of rows) {
      const offers = groups.get(String(row.product_id)) ?? [];
      expect(row).toMatchObject({
        title: findOldest(offers, (o) => o.title ?? '') || null,
        brand: findOldest(offers, (o) => o.brand),
        mpn: findOldest(offers, (o) => o.mpn),
        category_slug: findOldest(offers, (o) => o.category),
        category_name: findOldest(offers, (o) => o.category),
        offers: BigInt(offers.length),
        shops: BigInt(new Set(offers.map((o) => o.siteId)).size),
      });
    }
  });
});

describe('the derived tables', () => {
  it.each(derivedSelects())('$table has the columns of its schema, in order and type', async ({ table, select }) => {
    await derive(makeWorld(1));
    const columns = await db.rows(`DESCRIBE ${select}`);
    const expected = loadTableSchema(table).columns.map(({ name, type }) => ({ name, type }));
    expect(columns.map((c) => ({ name: c.column_name, type: c.column_type }))).toEqual(expected);
  });

  it.each(derivedSelects())('$table declares every table that its query reads', async ({ query, reads }) => {
    expect(await listRelations(db, query)).toEqual([...reads].sort());
  });

  it('come after the tables that they read', () => {
    const sorted = sortByReads([
      { table: 'price_spread_daily', reads: ['price_spread', 'items'] },
      { table: 'products', reads: ['items'] },
      { table: 'price_spread', reads: ['items', 'products'] },
    ]);
    expect(sorted.map(({ table }) => table)).toEqual(['products', 'price_spread', 'price_spread_daily']);
  });

  it('that read each other are refused', () => {
    const circle = () =>
      sortByReads([
        { table: 'products', reads: ['price_spread'] },
        { table: 'price_spread', reads: ['products'] },
      ]);
    expect(circle).toThrow('derived tables read each other: products, price_spread');
  });

  it('are empty for an empty lake', async () => {
    await derive({ offers: [], sites: new Map() });
    for (const { table } of derivedSelects()) {
      expect(await db.rows(`SELECT * FROM ${quoteIdentifier(table)}`)).toEqual([]);
    }
  });
});
