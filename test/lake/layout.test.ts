import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ignoreMissing, temporaryPath } from '../../src/tables/layout.js';
import { makeFolder } from './fixture.js';

test('a temporary file has a new name each time, that of the file to be behind it', () => {
  const names = [1, 2].map(() => temporaryPath({ root: '/lake' }, '/lake/items/a.parquet'));
  for (const name of names) expect(name).toMatch(/^\/lake\/_pricelake\/tmp\/[0-9a-f-]{36}-a\.parquet$/);
  expect(new Set(names).size).toBe(2);
});

test('a file that is missing is nothing; whatever else goes wrong is told', async () => {
  const folder = await makeFolder();
  expect(await readFile(join(folder, 'none')).catch(ignoreMissing)).toBeUndefined();
  await expect(readFile(folder).catch(ignoreMissing)).rejects.toMatchObject({ code: 'EISDIR' });
});
