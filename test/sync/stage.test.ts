import { expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { makeLevel } from '../../src/sync/stage.js';

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
    await makeLevel(db, [{ byProduct: true }], collect, 30n);
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
    await makeLevel(db, [{ byProduct: true }], async () => {
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
    await makeLevel(db, [{ byProduct: false }], async () => void seen.push(await count()), 30n);
    expect([...seen, await count()]).toEqual([100n, 100n]);
  } finally {
    db.close();
  }
});
