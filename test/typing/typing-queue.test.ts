import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros } from '../../src/sql/model.js';
import { type LandedItems, TypingQueue } from '../../src/typing/typing-queue.js';
import { openMacros } from '../apply/macro-database.js';
import { makeFolder } from '../journal/folder.js';
import { itemLine } from './typing.js';

const { db } = await openMacros();
let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});

let files = 0;
/** Lands a file of items with these ids, followed by `lines`. */
async function land(ids: number[], hour: number, ...lines: string[]): Promise<LandedItems> {
  const file = path.join(folder, `landed-${++files}.ndjson`);
  const rows = [...ids.map((id) => itemLine({ id: String(id) })), ...lines];
  const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(''));
  await writeFile(file, bytes);
  return { path: file, rows: rows.length, bytes: bytes.length, readAt: `2026-11-20T0${hour}:00:00Z` };
}

async function readTyped(paths: string[]): Promise<string[]> {
  const reader = await db.connection.runAndReadAll(
    `SELECT concat_ws(' ', item_id, part, hour(read_at)) FROM read_parquet([${paths.map((one) => `'${one}'`)}]) ORDER BY 1`,
  );
  return reader.getRows().map(([text]) => String(text));
}

const newTypingQueue = () => new TypingQueue(db, { runId: 'run', workFolder: folder });

test('items that are left to a later attempt are not typed', async () => {
  const typing = newTypingQueue();
  typing.leaveItems();
  typing.addItems(await land([1], 1));
  expect(await typing.finish()).toEqual([]);
});

describe('small landed files', () => {
  test('are typed together, each row with its own file and time', async () => {
    const typing = newTypingQueue();
    const landed = [await land([1, 2], 1), await land([3], 2), await land([4], 3)];
    for (const file of landed) typing.addItems(file);
    const typed = await typing.finish();
    expect(typed).toMatchObject([{ rows: 4, sources: landed.map((file) => file.path) }]);
    const [one, two, three] = landed.map((file) => path.basename(file.path));
    expect(await readTyped(typed.map((file) => file.typedPath))).toEqual([
      `1 ${one} 1`,
      `2 ${one} 1`,
      `3 ${two} 2`,
      `4 ${three} 3`,
    ]);
  });

  test("are typed one by one if a row doesn't fit, and the bad row has its file and line", async () => {
    const typing = newTypingQueue();
    const landed = [await land([1], 1), await land([2], 2, '{"id": 9, "title": "cut'), await land([3], 3)];
    for (const file of landed) typing.addItems(file);
    const typed = await typing.finish();
    expect(typed.map(({ part, rows }) => [part, rows])).toEqual(
      landed.map(({ path: file, rows }) => [path.basename(file), rows]),
    );
    expect(await readTyped(typed.map((file) => file.typedPath))).toHaveLength(3);
    const [bad] = typed.filter(({ badPath }) => badPath !== undefined);
    const rejects = await db.rows(`SELECT n, raw FROM read_json('${bad?.badPath}', format = 'newline_delimited')`);
    expect(rejects).toEqual([{ n: 2n, raw: '{"id": 9, "title": "cut' }]);
  });

  test('with long numbers are exact in a batch with others', async () => {
    const typing = newTypingQueue();
    typing.addItems(await land([1], 1));
    typing.addItems(await land([], 2, itemLine({ id: '2', price: '99999999999999.9999' })));
    const [typed, ...others] = await typing.finish();
    expect(others).toEqual([]);
    const rows = await db.rows(`SELECT CAST(price AS VARCHAR) AS price FROM '${typed?.typedPath}' WHERE item_id = 2`);
    expect(rows).toEqual([{ price: '99999999999999.9999' }]);
  });
});

test.each([
  ['of one website each are typed in landed order', true, [9, 7]],
  ['of several websites are sorted by website', false, [7, 9]],
])('files %s', async (_, isOfOneSite, sites) => {
  const typing = newTypingQueue();
  const lineOf = (id: number) => itemLine({ site: `{"id":${id},"name":"Shop","host":"s.example","attribution":null}` });
  for (const id of [9, 7])
    typing.addItems({ ...(await land([], 1, lineOf(id))), isOfOneSite: isOfOneSite || id === 9 });
  const [typed] = await typing.finish();
  const rows = await db.rows(
    `SELECT site_id FROM read_parquet('${typed?.typedPath}', file_row_number = true) ORDER BY file_row_number`,
  );
  expect(rows.map(({ site_id }) => Number(site_id))).toEqual(sites);
});

describe('large landed files', () => {
  const LARGE = 2 ** 26;

  test('are typed concurrently, and listed in the order in which they landed', async () => {
    const wide = await Database.open({ threads: 2 });
    await createMacros(wide);
    const typing = new TypingQueue(wide, { runId: 'run', workFolder: folder });
    const landed = [await land([1, 2], 1), await land([], 2, '{"id": 9, "title": "cut'), await land([3], 3)];
    for (const file of landed) typing.addItems({ ...file, bytes: LARGE });
    const typed = await typing.finish();
    expect(typed.map(({ sources: [source] }) => source)).toEqual(landed.map((file) => file.path));
    expect(await readTyped(typed.map((file) => file.typedPath))).toEqual([
      `1 ${typed[0]?.part} 1`,
      `2 ${typed[0]?.part} 1`,
      `3 ${typed[2]?.part} 3`,
    ]);
    typing.addItems({ ...(await land([4], 4)), bytes: LARGE });
    expect(await typing.finish()).toHaveLength(4);
    await wide.close();
  });
});

describe('a segment of an interrupted export', () => {
  test('is dropped, together with its faults', async () => {
    const typing = newTypingQueue();
    const kept = await land([1], 1);
    const cut = await land([2], 2);
    const damaged = { ...(await land([3], 3)), rows: 7 };
    typing.addItems(kept);
    typing.addItems(cut, { mayBecomeVoid: true });
    typing.addItems(damaged, { mayBecomeVoid: true });
    typing.forget([cut.path, damaged.path]);
    expect((await typing.finish()).flatMap(({ sources }) => sources)).toEqual([kept.path]);
  });

  test('makes the run fail if it turns out to be complete', async () => {
    const typing = newTypingQueue();
    typing.addItems({ ...(await land([3], 3)), rows: 7 });
    await expect(typing.finish()).rejects.toMatchObject({ code: 'contract' });
  });
});

describe('landing', () => {
  test('waits while too many bytes wait to be typed', async () => {
    const typing = newTypingQueue();
    const [first, second] = [await land([1], 1), await land([2], 2)];
    typing.addItems({ ...first, bytes: 2 ** 31 });
    let isRoom = false;
    const room = typing.whenRoom().then(() => {
      isRoom = true;
    });
    typing.addItems(second);
    await Promise.resolve();
    expect(isRoom).toBe(false);
    await room;
    expect((await typing.finish()).flatMap(({ sources }) => sources)).toEqual([first.path, second.path]);
  });
});
