import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { convertToCheckpoint, readCheckpoint } from '../../src/lake/checkpoint-file.js';
import { makeFolder, openDatabase } from './fixture.js';

/** One action of each kind, with every field that a checkpoint has a column for. */
const ACTIONS = [
  { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
  {
    metaData: {
      id: 'm',
      name: 'n',
      description: 'd',
      format: { provider: 'parquet', options: { a: 'b' } },
      schemaString: '{}',
      partitionColumns: ['site_id', 'brand'],
      createdTime: 1_763_600_000_000,
      configuration: { 'delta.appendOnly': 'false' },
    },
  },
  { txn: { appId: 'run', version: 2 ** 53 - 1, lastUpdated: 5 } },
  {
    add: {
      path: 'a%20b.parquet',
      partitionValues: { site_id: '7', brand: null },
      size: 10,
      modificationTime: 1,
      dataChange: true,
      stats: '{"numRecords":1}',
      tags: { sha256: 'ab' },
    },
  },
  { remove: { path: 'c', deletionTimestamp: 9, dataChange: true } },
];

/** A checkpoint in a folder whose name means something to DuckDB. */
async function convert(actions: object[]): Promise<string> {
  const folder = await makeFolder("it's [a]*");
  const [lines, path] = [join(folder, 'l.json'), join(folder, 'c.parquet')];
  await writeFile(lines, actions.map((action) => `${JSON.stringify(action)}\n`).join(''));
  await convertToCheckpoint(lines, path);
  return path;
}

const withoutNulls = (line: string) =>
  Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([, value]) => value !== null));

test('every field of every action comes back from a checkpoint, in its order', async () => {
  const lines = await readCheckpoint(await convert(ACTIONS));
  expect(lines.map(withoutNulls)).toEqual(ACTIONS);
});

test('a checkpoint has a column a kind of action, compressed as every reader knows', async () => {
  const [db, path] = [await openDatabase(), await convert(ACTIONS.slice(0, 1))];
  const source = `'${path.replaceAll("'", "''").replaceAll(/[[*]/g, '[$&]')}'`;
  const columns = await db.rows(`SELECT name FROM parquet_schema(${source}) WHERE num_children > 0`);
  for (const name of ['txn', 'add', 'remove', 'metaData', 'protocol']) expect(columns).toContainEqual({ name });
  const codecs = await db.rows(`SELECT DISTINCT compression FROM parquet_metadata(${source})`);
  expect(codecs).toEqual([{ compression: 'SNAPPY' }]);
});
