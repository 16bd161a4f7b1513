import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import { IdSet } from '../../src/io/id-set.js';
import type { Landing } from '../../src/journal/landings.js';
import { takeOff } from '../../src/source/hydrate-export.js';
import { cutItemTails, ItemFiles, listItemFiles, readItem, readLandedIds } from '../../src/source/item-files.js';
import { fitName } from '../../src/tables/item-names.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeFolder } from '../journal/folder.js';
import { fakeClient } from './fake-client.js';
import { openLanding, readLanded } from './landing.js';

const READ_AT = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:01.000Z'];

const io = createFakeIo();
const { client } = fakeClient(() => ({}));

/** Lands an item; true when its file is full. */
function land(files: ItemFiles, id: number, readAt = READ_AT[0] as string): Promise<boolean> {
  const body = Buffer.from(`{"id":${id}}`);
  io.now = () => new Date(readAt);
  return files.land({ client, dataset: undefined }, body, [{ start: 0, end: body.length }]);
}

const listNames = (landing: Landing) =>
  listItemFiles(landing, 'poll').map((file) => [path.basename(file.path), file.rows, file.bytes, file.readAt]);

test('a full file is closed and the next row begins another', async () => {
  const landing = await openLanding('landed');
  const files = new ItemFiles(landing, 'poll', io, 18);
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
  const first = new ItemFiles(landing, 'poll', io);
  await land(first, 1);
  await first.close();
  await first.close();
  const second = new ItemFiles(landing, 'poll', io);
  await land(second, 2);
  await second.close();
  expect(listNames(landing).map(([name]) => name)).toEqual(['poll-00001.ndjson', 'poll-00002.ndjson']);
});

test('of a killed process, what the journal does not name is cut off; files of exports stay as they are', async () => {
  const landing = await openLanding('landed');
  const files = new ItemFiles(landing, 'hydrate', io);
  await land(files, 1);
  await files.close();
  const exported = 'hydrate-export-1-00001.csv';
  const entry = { type: 'hydrate.page', rows: 1, end: 2, readAt: READ_AT[0] as string, calls: 1 } as const;
  await landing.journal.append({ ...entry, file: exported });
  for (const name of ['hydrate-00001.ndjson', exported]) await appendFile(path.join(landing.folder, name), '{"id":');
  await cutItemTails(landing);
  expect(await readLanded(landing, 'hydrate-00001.ndjson')).toEqual(['{"id":1}']);
  expect(await readLanded(landing, exported)).toEqual(['{"id":']);
});

async function readIds(name: string, text: string): Promise<bigint[]> {
  const file = path.join(await makeFolder(), name);
  await writeFile(file, text);
  const ids: bigint[] = [];
  for await (const id of readLandedIds(file, (column) => (column.toLowerCase() === 'itemid' ? 'maybe' : undefined)))
    ids.push(id);
  return ids;
}

test('ids of JSON lines come exactly; blank and damaged rows, and those without one, have none', async () => {
  const lines = ['{"id":9,"itemId":9223372036854775807}', '', '{"id":1}', '{"itemId":"2"}', '{"itemId', '{"itemId":3}'];
  expect(await readIds('a.ndjson', lines.join('\n'))).toEqual([9223372036854775807n, 3n]);
});

test('ids of CSV come from their column; the header and cells that are no whole number have none', async () => {
  const rows = [',itemId', '"a, b",9223372036854775807', 'c,', 'd', 'e,5.0', 'x1,y2', '7,-3', 'f,5x', 'g,x5', '"h"i,8'];
  expect(await readIds('a.csv', rows.join('\n'))).toEqual([9223372036854775807n, -3n]);
});

test('CSV without a column of ids has none', async () => {
  expect(await readIds('a.csv', 'title,id\nA,1\n2,3\n')).toEqual([]);
});

test('a file that is not there is an error, not a file without items', async () => {
  const read = async (file: string) => {
    for await (const id of readLandedIds(file, () => 'sure')) expect.unreachable(String(id));
  };
  const folder = await makeFolder();
  await expect(read(path.join(folder, 'a.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(read(path.join(folder, 'a.ndjson'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a defect of our own is no damaged row', async () => {
  const file = path.join(await makeFolder(), 'a.ndjson');
  await writeFile(file, '{"id":1}');
  const fitId = () => {
    throw new TypeError('a defect');
  };
  await expect(readLandedIds(file, fitId).next()).rejects.toThrow('a defect');
});

test('items of a landed export need no other read: in its files, a field that holds ids by the mapping names them', async () => {
  const takeIds = async (name: string, text: string) => {
    const file = path.join(await makeFolder(), name);
    await writeFile(file, text);
    const needed = new IdSet(BigInt64Array.of(1n, 2n));
    await takeOff(needed, file, (field) => fitName('id', field, { sku: 'id' }));
    return [...needed];
  };
  expect(await takeIds('hydrate-export-1-00001.ndjson', '{"id":2,"sku":1}\n')).toEqual([2n]);
  expect(await takeIds('hydrate-export-2-00001.csv', 'title,sku\r\na,1\r\n')).toEqual([2n]);
  // A page names it as the document does.
  expect(await takeIds('hydrate-00001.ndjson', '{"sku":1,"id":2}\n')).toEqual([1n]);
});

const clientOf = (answer: string | Error) => {
  const bytes = async (path: string) => {
    expect(path).toBe('/items/9223372036854775807');
    if (answer instanceof Error) throw answer;
    return { body: Buffer.from(answer) };
  };
  return { bytes } as unknown as ApiClient;
};
const read = (answer: string | Error) => readItem(clientOf(answer), 9223372036854775807n);

test('an item comes as the bytes that the service sent', async () => {
  expect((await read('{"id": 9223372036854775807 }'))?.toString()).toBe('{"id": 9223372036854775807 }');
});

test('an item that the service does not show is none; any other refusal is an error', async () => {
  expect(await read(new PricelakeError('not_found', 'no such item'))).toBeUndefined();
  for (const error of [new PricelakeError('unauthorized', 'no'), new TypeError('a defect')]) {
    await expect(read(error)).rejects.toBe(error);
  }
});

test('an answer that is no JSON object is a contract error that says what to check', async () => {
  await expect(read('[1]')).rejects.toMatchObject({
    code: 'contract',
    message: expect.stringMatching(/^\/items\/9223372036854775807: the response is not a JSON object: .+/),
    facts: { hint: expect.stringContaining('source.baseUrl') },
    cause: expect.any(SyntaxError),
  });
});
