import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { takeOff } from '../../src/extract/hydrate-export.js';
import { makeFolder } from '../landing/folder.js';

test('items of a landed export need no other read; its blank and damaged lines are none', async () => {
  const file = path.join(await makeFolder(), 'export.ndjson');
  await writeFile(file, '{"id":1}\r\n\r\n\n{"title":"A","id":2}\n{"id":3.5}\n{"title":"B"}\n[4]\n{"id":5,"ti');
  const needed = new Set([1n, 2n, 3n, 4n, 9007199254740993n]);
  await takeOff(needed, file);
  expect([...needed]).toEqual([3n, 4n, 9007199254740993n]);
});
