import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Expectation, hashFile, readFooterFacts, sealDataFile } from '../../src/lake/data-file.js';
import { listOpenFiles } from '../journal/folder.js';
import { makeFolder, openDatabase } from './fixture.js';

/** A Parquet file of 5000 rows in three row groups, with a list and a struct between plain columns. */
async function writeParquet(): Promise<{ file: string; right: Expectation }> {
  const [db, folder] = [await openDatabase(1), await makeFolder()];
  const file = path.join(folder, 'x.parquet');
  const select = `SELECT i AS a, [i, NULL] AS b, {'x': {'y': 1, 'a': 2}, 'z': 's'} AS c, 'e' AS d FROM range(5000) AS r(i)`;
  await db.run(`COPY (${select}) TO '${file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`);
  const { size: bytes } = await open(file).then(async (handle) => {
    const info = await handle.stat();
    await handle.close();
    return info;
  });
  return { file, right: { rows: 5000n, bytes, columns: ['a', 'b', 'c', 'd'] } };
}

test('a file is sealed only if its bytes, rows and columns equal what the writer reported', async () => {
  const { file, right } = await writeParquet();
  expect(await sealDataFile(file, right)).toBe(await hashFile(file));
  const refuse = (wrong: Partial<Expectation>, words: string) =>
    expect(sealDataFile(file, { ...right, ...wrong })).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${file}: the footer records ${words}`,
      facts: { hint: 'Check the disk, then run the same command again.' },
    });
  await refuse({ bytes: 1 }, `bytes ${right.bytes}, but the writer reported 1`);
  await refuse({ rows: 4999n }, 'rows 5000, but the writer reported 4999');
  await refuse({ columns: ['a', 'b'] }, 'columns a,b,c,d, but the writer reported a,b');
  expect(await listOpenFiles(path.dirname(file))).toEqual([]);
});

test('a footer whose row count differs from its row groups is refused', async () => {
  const { file, right } = await writeParquet();
  const bytes = await readFile(file);
  // The row count and the next field in Thrift: field 3 is an int64 as a varint of twice its value, and field 4 is a list.
  const place = bytes.lastIndexOf(Buffer.from([0x16, 0x90, 0x4e, 0x19]));
  bytes[place + 1] = 0x8e;
  await writeFile(file, bytes);
  expect(await readFooterFacts(file)).toMatchObject({ rows: 4999n, rowsInGroups: 5000n });
  await expect(sealDataFile(file, { ...right, rows: 4999n })).rejects.toThrow(
    `${file}: the footer records rows in row groups 5000, but the writer reported 4999`,
  );
});

test('a file without rows needs no codec, and a file with rows must use zstd', async () => {
  const [db, file] = [await openDatabase(1), path.join(await makeFolder(), 'x.parquet')];
  const seal = async (rows: bigint, codec: string) => {
    await db.run(`COPY (SELECT 1 AS a FROM range(${rows})) TO '${file}' (FORMAT parquet, COMPRESSION ${codec})`);
    const { bytes } = await readFooterFacts(file);
    return sealDataFile(file, { rows, bytes, columns: ['a'] });
  };
  expect(await seal(0n, 'zstd')).toMatch(/^[0-9a-f]{64}$/);
  await expect(seal(1n, 'snappy')).rejects.toThrow('the footer records codecs SNAPPY, but the writer reported ZSTD');
});

test('a footer of any length can be read', async () => {
  const [db, file] = [await openDatabase(1), path.join(await makeFolder(), 'x.parquet')];
  const columns = Array.from({ length: 900 }, (_, i) => `column_${i}`);
  const select = `SELECT ${columns.map((name, i) => `${i} AS ${name}`).join(', ')} FROM range(10)`;
  await db.run(`COPY (${select}) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`);
  const bytes = await readFile(file);
  expect(bytes.readUInt32LE(bytes.length - 8)).toBeGreaterThan(2 ** 16);
  expect(await readFooterFacts(file)).toEqual({
    ...{ bytes: bytes.length, rows: 10n, rowsInGroups: 10n },
    ...{ columns, codecs: ['ZSTD'] },
  });
});

test("a file that isn't Parquet is refused with its name", async () => {
  const file = path.join(await makeFolder(), 'x.parquet');
  for (const bytes of ['', 'PAR1', 'x'.repeat(100)]) {
    await writeFile(file, bytes);
    const error = await readFooterFacts(file).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'lake_invalid', message: `${file}: can't read the file's footer` });
    expect((error as Error).cause).toBeDefined();
  }
  await writeFile(file, '');
  await expect(readFooterFacts(file)).rejects.toMatchObject({ cause: new Error('read 0 of 4 bytes at 0') });
  expect(await listOpenFiles(path.dirname(file))).toEqual([]);
});
