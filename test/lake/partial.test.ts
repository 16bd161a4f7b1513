import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markPartial, readPartial, requireFiles, unmarkPartial } from '../../src/lake/partial.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import type { DataFile } from '../../src/tables/table.js';
import { makeBareLake } from './log-writer.js';

const REMOTE = 's3://bucket/lake';
const HINT = 'Fetch them with `pricelake lake restore`, or read the remote with --remote (`query`, `status`).';
const files = ['a.parquet', 'site_id=1/b.parquet', 'c.parquet'].map((path) => ({ path }) as DataFile);

/** A lake with only one of its three data files on this machine. */
async function makePartial(): Promise<Lake> {
  const lake = await makeBareLake();
  await markPartial(lake, { remote: REMOTE });
  await mkdir(tablePath(lake, 'items', 'site_id=1'), { recursive: true });
  await writeFile(tablePath(lake, 'items', 'site_id=1', 'b.parquet'), 'x');
  return lake;
}

test('a partial folder records its remote until it has every file', async () => {
  const lake = await makePartial();
  expect(await readPartial(lake)).toEqual({ remote: REMOTE });
  expect(await readdir(privatePath(lake))).toEqual(['partial.json', 'tmp']);
  await unmarkPartial(lake);
  expect(await readPartial(lake)).toBeUndefined();
});

test('a partial marker with unknown fields is refused', async () => {
  const lake = await makeBareLake();
  await writeFile(privatePath(lake, 'partial.json'), '{"remote":"s3://bucket/lake","tables":["items"]}');
  await expect(readPartial(lake)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${privatePath(lake, 'partial.json')}: this version of pricelake did not write this file`,
    facts: { hint: expect.stringContaining('pricelake lake restore') },
  });
});

test('a run fetches files that are only on the remote; otherwise an error counts them', async () => {
  const lake = await makePartial();
  await expect(requireFiles(lake, 'items', files)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${join(lake.root, 'items')}: 2 of 3 data files are only on ${REMOTE}`,
    facts: { hint: HINT, remote: REMOTE },
  });
  await requireFiles(lake, 'items', files.slice(1, 2));
  const brought: unknown[] = [];
  await requireFiles({ ...lake, provide: async (...which) => void brought.push(which) }, 'items', files);
  expect(brought).toEqual([['items', files]]);
});
