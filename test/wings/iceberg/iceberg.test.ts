import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../../src/sql/connection.js';
import { quoteLiteral } from '../../../src/sql/quote.js';
import { type IcebergWorld, openIcebergWorld } from './iceberg-world.js';
import { readFiles, readMetadata } from './read-metadata.js';

let lake: IcebergWorld;
let db: Database;

beforeAll(async () => {
  lake = await openIcebergWorld();
  db = await Database.open();
});
afterAll(async () => {
  db.close();
  await lake.world.close();
});

it('has a snapshot for each version, including a run that ended before it wrote the metadata', async () => {
  await lake.sync();
  await lake.move();
  await lake.syncAlone();
  await expect(lake.expectSame()).rejects.toThrow();
  await lake.move();
  await lake.sync();
  expect(lake.warnings).toEqual([]);
  await lake.expectSame();
  const { snapshots } = readMetadata(lake.folderOf('items'));
  expect(snapshots.map((one) => one['snapshot-id'])).toEqual([1, 2, 3]);
  expect(snapshots.map((one) => one['parent-snapshot-id'])).toEqual([undefined, 1, 2]);
  expect(snapshots.at(-1)?.summary).toMatchObject({ operation: 'overwrite', 'delta.version': '2' });
  expect(readMetadata(lake.folderOf('runs')).snapshots.at(-1)?.summary.operation).toBe('append');
});

it('has bounds, null counts and partition values that match the rows', async () => {
  for (const file of readFiles(readMetadata(lake.folderOf('items')).snapshots.at(-1), lake.world.lakePath)) {
    const [row] = await db.rows(
      `SELECT min(item_id) AS low, max(item_id) AS high, min(site_id) AS site, count(*) - count(gtin) AS nulls,
        min(price) AS price, min(is_listed) AS listed, max(title) AS title FROM read_parquet(${quoteLiteral(file.path)})`,
    );
    expect([file.lower.get(1)?.readBigInt64LE(), file.upper.get(1)?.readBigInt64LE()]).toEqual([row?.low, row?.high]);
    expect(file.nulls.get(5)).toBe(row?.nulls);
    expect(file.partition).toEqual({ site_id: row?.site });
    expect(file.lower.get(20)?.readBigInt64LE()).toBe(row?.site);
    expect(BigInt(`0x${file.lower.get(8)?.toString('hex')}`)).toBe(
      (row?.price as { value: bigint } | undefined)?.value,
    );
    expect(file.lower.get(29)).toEqual(Buffer.from([row?.listed === true ? 1 : 0]));
    expect(file.upper.get(2)?.compare(Buffer.from(String(row?.title)))).toBeGreaterThanOrEqual(0);
    // A list has no bounds.
    expect(file.lower.has(19)).toBe(false);
  }
});
