import { expect, test } from 'vitest';
import { FEW_ROWS } from '../../src/merge/batch.js';
import { mergeItems } from '../../src/merge/merge.js';
import type { ItemsFile, LakeBase } from '../../src/merge/merge-base.js';
import { loadWorld, openModels, read } from './model-world.js';

test('rows as they were before the run stay so when files take the place of others, however many items are new', async () => {
  const db = await openModels();
  try {
    await loadWorld(db, { base: [read({ item_id: 1, price: 12 })] });
    await db.run(`INSERT INTO base_items SELECT b.* REPLACE (item_id + n AS item_id)
      FROM base_items AS b, range(1, ${FEW_ROWS + 1}) AS r (n)`);
    await db.run('INSERT INTO different_items SELECT item_id FROM base_items');
    const file = { path: 'a.parquet', absolutePath: 'a.parquet', rows: 1n, bytes: 1, partitionValues: {}, stats: '' };
    const base: LakeBase = { kind: 'reload', files: [file as ItemsFile], hasOlderFiles: false, isKept: true };
    const readPublished = () =>
      "(SELECT * REPLACE (CAST(10 AS DECIMAL(18, 4)) AS price), 'a.parquet' AS filename FROM base_items WHERE item_id = 1)";
    await db.keep('items', ['a.parquet'], readPublished);

    const { changed, replaced } = await mergeItems(db, base, { gone: 0n });
    expect([changed, replaced]).toEqual([BigInt(FEW_ROWS) + 1n, [file]]);
    // The lake is shown as it would be.
    await db.keep('items', [], readPublished);
    const before = await db.rows('SELECT item_id, CAST(price AS VARCHAR) AS price FROM items_before');
    expect(before).toEqual([{ item_id: 1n, price: '10.0000' }]);
  } finally {
    await db.close();
  }
});
