import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { separateBadRows } from '../../src/apply/bad-row-reader.js';
import { makeFolder } from '../journal/folder.js';

const GOOD = '{"id":1}\n';
const BAD = `{"id":${' '.repeat(1000)}\n`;

test.each([
  ['rows that can be read', 'goodPath', GOOD + BAD.repeat(1000)],
  ['rows that cannot', 'badPath', BAD + GOOD.repeat(100_000)],
] as const)(
  'a disk that is full for %s fails the bad-row reader with an error that a caller gets',
  async (_name, full, rows) => {
    const folder = await makeFolder();
    const file = path.join(folder, 'rows.ndjson');
    await writeFile(file, rows);
    const paths = { goodPath: path.join(folder, 'good'), badPath: path.join(folder, 'bad'), [full]: '/dev/full' };
    await expect(
      separateBadRows({ path: file, fields: new Map([['id', 'BIGINT']]), isId: () => false, ...paths }),
    ).rejects.toMatchObject({
      code: 'ENOSPC',
    });
  },
);
