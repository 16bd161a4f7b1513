import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listDerived } from '../../src/analyze/derived-tables.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { commitTable } from '../../src/lake/commit.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readLake, type World } from './world.js';

describe('a run with few changes', () => {
  const tables = listDerived().flatMap(({ table, by }) => (by === 'product' ? [table] : []));
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

  it.each(tables)('gives %s new rows where they differ, and other rows keep their run', async (table) => {
    expect(await runsOf(table)).toEqual(new Set([first, last]));
    const again = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*) FROM ${glob(table)} AS rows ANTI JOIN ${glob('items')} AS items
        ON rows.product_id = items.product_id AND items.run_id = '${last}'
        WHERE rows.run_id = '${last}' AND NOT EXISTS (FROM ${glob('history')} WHERE run_id = '${last}' AND item_id IS NULL)`,
    );
    expect(again).toEqual([['0']]);
  });

  it('leaves the tables equal to the results of their queries', async () => {
    await runVerify({ lake: world.lakePath, sample: 0 }, openContext(true));
  });

  it('recomputes a table completely if another query had computed it', async () => {
    const lake = await openLake(world.lakePath, { create: false });
    const change = { table: 'products' as const, add: [], remove: [], applied: { query: 1n } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at: new Date() });
    await world.sandbox.advance({ hours: 1, changes: 5 });
    const { run_id } = (await world.sync()).row;
    expect(await runsOf('products')).toEqual(new Set([run_id]));
    expect(await runsOf('price_spread')).not.toEqual(new Set([run_id]));
    expect((await readTable(lake, 'products')).applied.query).toBe(
      listDerived().find(({ table }) => table === 'products')?.hash,
    );
  });
});
