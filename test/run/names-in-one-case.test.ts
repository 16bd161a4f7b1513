import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { changeText, openWorld, readItems, readLake, readTruth, type WorldOptions } from './world.js';

const SMALL = { items: 40, sites: 3, checks: 'all' } as const;
const usual = await openWorld(SMALL);
let world = usual;
beforeEach(() => {
  world = usual;
  world.renew();
});
afterAll(() => usual.close());

/** Continues with another service. */
async function useOther(options: WorldOptions): Promise<void> {
  world = await openWorld({ ...SMALL, ...options });
  onTestFinished(() => world.close());
}

/** Field names are case-sensitive: `Price` and `price` are different fields, like `Novel` and `novel`. */
const FIELDS = '"Price":1,"ID":"7","novel":1,"Novel":2,';
const addFields = (text: string) => text.replaceAll('"title":', `${FIELDS}"title":`);
const addColumns = (text: string) =>
  text
    .split('\n')
    .map((line, n) => (line === '' ? line : `${n === 0 ? 'Price,ID,novel,Novel' : '1,7,1,2'},${line}`))
    .join('\n');

/** The column `extra` of all items. */
async function readExtra() {
  const extra = await readLake(world.lakePath, (glob) => `SELECT DISTINCT extra FROM ${glob('items')}`);
  return extra.map(([text = '']) => JSON.parse(text) as unknown);
}

async function expectExact(row: { schema_drift: string }, drift: string[]) {
  const withoutExtra = (rows: Map<string, string[]>) => [...rows.values()].map((row) => row.toSpliced(-2, 1)).sort();
  expect(withoutExtra(await readItems(world.lakePath))).toEqual(withoutExtra(await readTruth(world.sandbox)));
  const found = JSON.parse(row.schema_drift) as { finding: string; field: string }[];
  expect(found.map(({ finding, field }) => `${finding} ${field}`).sort()).toEqual(drift);
}

describe('fields whose names differ only in case', () => {
  test('are kept separately in rows of an NDJSON export', async () => {
    world.intercept = changeText(/\/export$/, addFields);
    const { row } = await world.sync();
    await expectExact(row, ['unknown ID', 'unknown Novel', 'unknown Price', 'unknown novel']);
    expect(await readExtra()).toEqual([{ Price: 1, ID: '7', novel: 1, Novel: 2 }]);
  });

  test('are kept separately in rows of a CSV export', async () => {
    await useOther({ exportShape: 'dotted', intercept: changeText(/\/export$/, addColumns) });
    world.pipeline.source.export = 'csv';
    const { row } = await world.sync();
    await expectExact(row, ['unknown ID', 'unknown Novel', 'unknown Price', 'unknown novel']);
    expect(await readExtra()).toEqual([{ Price: '1', ID: '7', novel: '1', Novel: '2' }]);
  });

  test('are kept separately in pages of items', async () => {
    const limits = { datasets: null, delayHours: 0, exportRowsPerMonth: 10 };
    await useOther({ plan: 'free', limits, intercept: changeText(/\/items$/, addFields) });
    world.pipeline.proof = { sample: 0, products: false, facets: false };
    const { row } = await world.sync();
    await expectExact(row, ['unknown ID', 'unknown Novel', 'unknown Price', 'unknown novel']);
    expect(await readExtra()).toEqual([{ Price: 1, ID: '7', novel: 1, Novel: 2 }]);
  });

  test('are kept separately in changes of the feed, in histories and in attributes', async () => {
    const changes = (text: string) =>
      text.replaceAll('"price":', '"Price":1,"price":').replaceAll('"kind":', '"Kind":"X","KIND":1,"kind":');
    const attributes = (text: string) =>
      text.replaceAll(
        /"attributes":\{(?=(.))/g,
        (_, next: string) => `"attributes":{"Novel":1,"novel":2${next === '}' ? '' : ','}`,
      );
    const both = changeText(/\/export$|\/changes$|\/history$|\/items(\/\d+)?$/, (text) => attributes(changes(text)));
    world.intercept = both;
    await world.sync();
    await world.sandbox.advance({ hours: 1, changes: 20 });
    await world.sync();
    const columns = 'count(*), count(*) FILTER (price = 1)';
    expect((await readLake(world.lakePath, (glob) => `SELECT ${columns} FROM ${glob('history')}`))[0]?.[1]).toBe('0');
    const names = (glob: (table: string) => string) =>
      `SELECT DISTINCT attributes->>'$.Novel', attributes->>'$.novel' FROM ${glob('items')} WHERE attributes IS NOT NULL`;
    expect(await readLake(world.lakePath, names)).toEqual([['1', '2']]);
  });
});
