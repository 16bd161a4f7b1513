import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Landing } from '../../src/journal/landings.js';
import { cutItemTails, ItemFiles, listItemFiles } from '../../src/source/item-files.js';
import { openLanding, readLanded } from './landing.js';

const READ_AT = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:01.000Z'];

/** Lands an item; true when its file is full. */
function land(files: ItemFiles, id: number, readAt = READ_AT[0] as string): Promise<boolean> {
  const body = Buffer.from(`{"id":${id}}`);
  return files.land(body, [{ start: 0, end: body.length }], { rows: 1, readAt, calls: 1 });
}

const listNames = (landing: Landing) =>
  listItemFiles(landing, 'poll').map((file) => [path.basename(file.path), file.rows, file.bytes, file.readAt]);

test('a full file is closed and the next row begins another', async () => {
  const landing = await openLanding('landed');
  const files = new ItemFiles(landing, 'poll', 18);
  const full = [];
  for (const id of [1, 2, 3]) full.push(await land(files, id, READ_AT[id - 1] ?? READ_AT[1]));
  await files.close();
  expect(full).toEqual([false, true, false]);
  expect(await readLanded(landing, 'poll-00001.ndjson')).toEqual(['{"id":1}', '{"id":2}']);
  expect(listNames(landing)).toEqual([
    ['poll-00001.ndjson', 2, 18, READ_AT[1]],
    ['poll-00002.ndjson', 1, 9, READ_AT[1]],
  ]);
});

test('a file that an earlier process left open is not gone on with, and nothing is open twice', async () => {
  const landing = await openLanding('landed');
  const first = new ItemFiles(landing, 'poll');
  await land(first, 1);
  await first.close();
  await first.close();
  const second = new ItemFiles(landing, 'poll');
  await land(second, 2);
  await second.close();
  expect(listNames(landing).map(([name]) => name)).toEqual(['poll-00001.ndjson', 'poll-00002.ndjson']);
});

test('of a killed process, what the journal does not name is cut off; files of exports stay as they are', async () => {
  const landing = await openLanding('landed');
  const files = new ItemFiles(landing, 'hydrate');
  await land(files, 1);
  await files.close();
  const exported = 'hydrate-export-1-00001.csv';
  const entry = { type: 'hydrate.page', rows: 1, end: 2, readAt: READ_AT[0] as string, calls: 1 } as const;
  await landing.journal.append({ ...entry, file: exported });
  for (const name of ['hydrate-00001.ndjson', exported]) await appendFile(path.join(landing.folder, name), '{"id":');
  await cutItemTails(landing, 'hydrate');
  expect(await readLanded(landing, 'hydrate-00001.ndjson')).toEqual(['{"id":1}']);
  expect(await readLanded(landing, exported)).toEqual(['{"id":']);
});
