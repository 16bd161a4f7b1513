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

/** Lands an item. Returns true if its file is full. */
function land(files: ItemFiles, id: number, readAt = READ_AT[0] as string): Promise<boolean> {
  const body = Buffer.from(`{"id":${id}}`);
  io.now = () => new Date(readAt);
  return files.land({ client, dataset: undefined }, body, [{ start: 0, end: body.length }]);
}

const listNames = (landing: Landing) =>
  listItemFiles(landing, 'poll').map((file) => [path.basename(file.path), file.rows, file.bytes, file.readAt]);

test('a full file is closed, and the next row starts another file', async () => {
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

test('a file that an earlier process left is not continued, and a closed file can be closed again', async () => {
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

test("after a kill, bytes that the journal doesn't list are cut off, except in files of exports", async () => {
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

test('ids in JSON lines are read exactly; blank or damaged rows and rows without an id are skipped', async () => {
  const lines = ['{"id":9,"itemId":9223372036854775807}', '', '{"id":1}', '{"itemId":"2"}', '{"itemId', '{"itemId":3}'];
  expect(await readIds('a.ndjson', lines.join('\n'))).toEqual([9223372036854775807n, 3n]);
});

test("ids in CSV are read from their column; the header and cells that aren't whole numbers are skipped", async () => {
  const rows = [',itemId', '"a, b",9223372036854775807', 'c,', 'd', 'e,5.0', 'x1,y2', '7,-3', 'f,5x', 'g,x5', '"h"i,8'];
  expect(await readIds('a.csv', rows.join('\n'))).toEqual([9223372036854775807n, -3n]);
});

test('CSV without an id column has no ids', async () => {
  expect(await readIds('a.csv', 'title,id\nA,1\n2,3\n')).toEqual([]);
});

test("a missing file is an error, and doesn't count as a file without items", async () => {
  const read = async (file: string) => {
    for await (const id of readLandedIds(file, () => 'sure')) expect.unreachable(String(id));
  };
  const folder = await makeFolder();
  await expect(read(path.join(folder, 'a.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(read(path.join(folder, 'a.ndjson'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test("a defect in pricelake isn't treated as a damaged row", async () => {
  const file = path.join(await makeFolder(), 'a.ndjson');
  await writeFile(file, '{"id":1}');
  const fitId = () => {
    throw new TypeError('a defect');
  };
  await expect(readLandedIds(file, fitId).next()).rejects.toThrow('a defect');
});

test("items in a landed export aren't read again, and the mapping determines which field of its files has the ids", async () => {
  const takeIds = async (name: string, text: string) => {
    const file = path.join(await makeFolder(), name);
    await writeFile(file, text);
    const needed = new IdSet(BigInt64Array.of(1n, 2n));
    await takeOff(needed, file, (field) => fitName('id', field, { sku: 'id' }));
    return [...needed];
  };
  expect(await takeIds('hydrate-export-1-00001.ndjson', '{"id":2,"sku":1}\n')).toEqual([2n]);
  expect(await takeIds('hydrate-export-2-00001.csv', 'title,sku\r\na,1\r\n')).toEqual([2n]);
  // A page uses the documented field name.
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

test('an item is returned as the bytes that the service sent', async () => {
  expect((await read('{"id": 9223372036854775807 }'))?.toString()).toBe('{"id": 9223372036854775807 }');
});

test("an item that the service doesn't find is undefined, and any other refusal is an error", async () => {
  expect(await read(new PricelakeError('not_found', 'no such item'))).toBeUndefined();
  for (const error of [new PricelakeError('unauthorized', 'no'), new TypeError('a defect')]) {
    await expect(read(error)).rejects.toBe(error);
  }
});

test("an answer that isn't a JSON object is a contract error with advice", async () => {
  await expect(read('[1]')).rejects.toMatchObject({
    code: 'contract',
    message: expect.stringMatching(/^\/items\/9223372036854775807: the response is not a JSON object: .+/),
    facts: { hint: expect.stringContaining('source.baseUrl') },
    cause: expect.any(SyntaxError),
  });
});
