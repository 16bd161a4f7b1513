import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { listUnnamedChanges } from '../../src/source/unnamed-changes.js';
import { makeFolder } from '../journal/folder.js';

test("a change is unnamed unless another dataset's feed or a webhook names its item; invalid lines are ignored", async () => {
  const folder = await makeFolder();
  const land = async (name: string, lines: string[]) => {
    const file = path.join(folder, name);
    await writeFile(file, lines.map((line) => `${line}\n`).join(''));
    return { file, changes: lines.length, bytes: 0 };
  };
  const feed = await land('feed.ndjson', [
    '{"id":9223372036854775807,"item":null}',
    '{"id":2,"kind":"REMOVED"}',
    '{"id":3,"item":null}',
    '{"id":4,"item":null}',
    '{"id":4,"item":{"id":40}}',
    '{"id":"x","item":null}',
    '{"id":5,"item":{"id":50}}',
  ]);
  const events = await land('webhook.ndjson', ['[]', '7', '{"id":3,"item":{"id":30}}', '{"id":6,"item":null}']);
  const landed = { ...feed, unnamed: 4, cursor: 0n, complete: true, at: '' };
  expect(await listUnnamedChanges(landed, [events])).toEqual([9223372036854775807n, 2n]);
});
