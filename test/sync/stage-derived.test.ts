import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { derivedSelects } from '../../src/analyze/derive.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { Database } from '../../src/duckdb/connection.js';
import { commitTable } from '../../src/lake/commit.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { makeLevel } from '../../src/sync/stage-derived.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readLake, type World } from './world.js';

describe('a run with few changes', () => {
  const tables = derivedSelects().flatMap(({ table, byProduct }) => (byProduct ? [table] : []));
  let world: World;
  let first: string;
  let last: string;

  beforeAll(async () => {
    world = await openWorld({ items: 2000, sites: 6 });
    first = (await world.sync()).row.run_id;
    await world.sandbox.advance({ hours: 1, changes: 60 });
    last = (await world.sync()).row.run_id;
  });
  afterAll(() => world.close());

  const runsOf = async (table: string) =>
    new Set((await readLake(world.lakePath, (glob) => `SELECT DISTINCT run_id FROM ${glob(table)}`)).flat());

  it.each(tables)('gives %s new rows where they differ, and leaves the others their run', async (table) => {
    expect(await runsOf(table)).toEqual(new Set([first, last]));
    const again = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*) FROM ${glob(table)} AS rows ANTI JOIN ${glob('items')} AS items
        ON rows.product_id = items.product_id AND items.run_id = '${last}'
        WHERE rows.run_id = '${last}' AND NOT EXISTS (FROM ${glob('history')} WHERE run_id = '${last}' AND item_id IS NULL)`,
    );
    expect(again).toEqual([['0']]);
  });

  it('leaves the tables that their queries give', async () => {
    await runVerify({ lake: world.lakePath, sample: 0 }, openContext(true));
  });

  it('makes a table as a whole where another query had made it', async () => {
    const lake = await openLake(world.lakePath, { create: false });
    const change = { table: 'products' as const, add: [], remove: [], applied: { query: 1n } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: new Date() });
    await world.sandbox.advance({ hours: 1, changes: 5 });
    const { run_id } = (await world.sync()).row;
    expect(await runsOf('products')).toEqual(new Set([run_id]));
    expect(await runsOf('price_spread')).not.toEqual(new Set([run_id]));
    expect((await readTable(lake, 'products')).applied.query).toBe(
      derivedSelects().find(({ table }) => table === 'products')?.query,
    );
  });
});

test('items are grouped in parts that hold each product whole, and all of them', async () => {
  const db = await Database.open();
  try {
    await db.run(`CREATE TEMP VIEW items AS
      SELECT i AS item_id, CAST(i % 40 AS VARCHAR) AS product_id FROM range(100) AS t(i)`);
    const parts: string[][] = [];
    const collect = async () => {
      const rows = await db.rows('SELECT product_id, count(*) AS n FROM items GROUP BY ALL ORDER BY ALL');
      parts.push(rows.map((row) => `${row.product_id} ${row.n}`));
    };
    await makeLevel(db, [{ byProduct: true, reads: ['items'] as const }], collect, 30n);
    expect(parts).toHaveLength(4);
    const whole = Array.from({ length: 40 }, (_, product) => `${product} ${product < 20 ? 3 : 2}`);
    expect(parts.flat().sort()).toEqual(whole.sort());
  } finally {
    db.close();
  }
});

test('few items are grouped at once', async () => {
  const db = await Database.open();
  try {
    await db.run("CREATE TEMP VIEW items AS SELECT 1 AS item_id, 'a' AS product_id");
    let calls = 0;
    await makeLevel(db, [{ byProduct: true, reads: ['items'] as const }], async () => {
      calls++;
    });
    expect(calls).toBe(1);
  } finally {
    db.close();
  }
});

test('a table that is not made by product sees all items at once, and the view is put back', async () => {
  const db = await Database.open();
  try {
    await db.run(
      'CREATE TEMP VIEW items AS SELECT i AS item_id, CAST(i AS VARCHAR) AS product_id FROM range(100) AS t(i)',
    );
    const seen: bigint[] = [];
    const count = async () => (await db.row('SELECT count(*) AS n FROM items'))?.n as bigint;
    await makeLevel(
      db,
      [{ byProduct: false, reads: ['items'] as const }],
      async () => void seen.push(await count()),
      30n,
    );
    expect([...seen, await count()]).toEqual([100n, 100n]);
  } finally {
    db.close();
  }
});
