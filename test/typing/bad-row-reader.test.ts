import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { separateBadRows } from '../../src/typing/bad-row-reader.js';
import { CHANGE_FIELDS } from '../../src/typing/landed.js';
import { makeFolder } from '../journal/folder.js';

const GOOD = '{"id":1}\n';
const BAD = `{"id":${' '.repeat(1000)}\n`;

test.each([
  ['readable rows', 'goodPath', GOOD + BAD.repeat(1000)],
  ['unreadable rows', 'badPath', BAD + GOOD.repeat(100_000)],
] as const)(
  'if the disk is full for %s, the bad-row reader throws an error that its caller gets',
  async (_name, full, rows) => {
    const folder = await makeFolder();
    const file = path.join(folder, 'rows.ndjson');
    await writeFile(file, rows);
    const paths = { goodPath: path.join(folder, 'good'), badPath: path.join(folder, 'bad'), [full]: '/dev/full' };
    await expect(
      separateBadRows({ path: file, fields: new Map([['id', 'BIGINT']]), fitId: () => undefined, ...paths }),
    ).rejects.toMatchObject({
      code: 'ENOSPC',
    });
  },
);

test('a change may lack its item or the website of its item', async () => {
  const folder = await makeFolder();
  const file = path.join(folder, 'rows.ndjson');
  const items = ['null', '{}', '{"site":null}', '{"site":{}}', '{"site":1}', '[]'];
  await writeFile(file, ['{"id":0}', ...items.map((item) => `{"id":1,"item":${item}}`)].join('\n'));
  const paths = { goodPath: path.join(folder, 'good'), badPath: path.join(folder, 'bad') };
  const counts = await separateBadRows({ path: file, fields: CHANGE_FIELDS, fitId: () => undefined, ...paths });
  expect(counts).toEqual({ good: 5, bad: 2 });
  const bad = (await readFile(paths.badPath, 'utf8')).trim().split('\n');
  expect(bad.map((line) => JSON.parse(line).reason)).toEqual(['item.site is not an object', 'item is not an object']);
});
