import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { choosePage } from '../../src/wings/products/land-products.js';
import { openWorld, readLake } from './world.js';

const world = await openWorld({ checks: 'all', items: 1000, history: 'none' });
beforeAll(async () => {
  world.pipeline.proof.products = true;
});
afterAll(() => world.close());
beforeEach(() => {
  world.requests.length = 0;
});

const asked = () => world.requests.filter((request) => request.startsWith('/products'));

describe('the products of the service', () => {
  test("are compared with the lake's, one page per run: offers, shops and prices are equal", async () => {
    const { row, checks } = await world.sync();
    expect(asked()).toHaveLength(1);
    expect(row.products_compared).toBeGreaterThan(50n);
    expect(row).toMatchObject({ products_different: 0n, product_differences: '[]' });
    expect(checks.find(({ name }) => name === 'products_match')?.violations).toBe(0n);
  });

  test('are all in the table service_products if they are requested', async () => {
    world.pipeline.source.products = 'all';
    await world.sandbox.advance({ hours: 1, changes: 5 });
    await world.sync();
    const [[rows, ours] = []] = await readLake(
      world.lakePath,
      (glob) =>
        `SELECT count(*), (SELECT count(*) FROM ${glob('products')}) FROM ${glob('service_products')} SEMI JOIN ${glob('products')} USING (product_id)`,
    );
    expect(rows).toBe(ours);
    expect(asked()).toHaveLength(Math.ceil(Number(rows) / 200));
    await world.sync();
    expect(asked()).toHaveLength(Math.ceil(Number(rows) / 200));
  });
});

test('the pages of the samples go through all pages, one per run', () => {
  const pages = Array.from({ length: 10 }, (_, run) => choosePage(2000n, BigInt(run + 1)));
  expect([...new Set(pages)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(choosePage(0n, 5n)).toBe(0);
});
