import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Journal } from '../../src/journal/journal.js';
import type { RunEntry } from '../../src/journal/run-entry.js';
import { RowFile, type RowMark } from '../../src/source/row-file.js';
import { makeFolder } from '../journal/folder.js';
import { LIST } from '../journal/list-fold.js';

let folder: string;
let file: string;
let journal: Journal<RunEntry, readonly RunEntry[]>;
beforeEach(async () => {
  folder = await makeFolder();
  file = path.join(folder, 'feed.ndjson');
  journal = await Journal.open(path.join(folder, 'journal.ndjson'), LIST);
});
afterEach(() => journal.close().catch(() => {}));

const entry = (mark: RowMark): RunEntry => ({
  type: 'hydrate.page',
  file: 'hydrate-00001.ndjson',
  rows: 1,
  ...mark,
  readAt: '2026-11-20T06:00:00Z',
  calls: 1,
});

/** Lands the parts of `body` between `‹` and `›`. */
async function land(rows: RowFile<RunEntry>, marked: string): Promise<number> {
  const bytes: number[] = [];
  const slices: { start: number; end: number }[] = [];
  let start = 0;
  for (const char of marked) {
    if (char === '‹') start = bytes.length;
    else if (char === '›') slices.push({ start, end: bytes.length });
    else bytes.push(...Buffer.from(char));
  }
  return rows.land(Buffer.from(bytes), slices, entry);
}

describe('a file of landed rows', () => {
  test('contains each row on its own line, unaltered', async () => {
    const rows = await RowFile.open(file, journal, 0);
    const end = await land(rows, '{"content":[‹{"id":1, "t":"ä\\n"}›, ‹{"id":2}›],"page":0}');
    await land(rows, '‹{"id":3}›');
    await rows.close();
    const text = await readFile(file, 'utf8');
    expect(text).toBe('{"id":1, "t":"ä\\n"}\n{"id":2}\n{"id":3}\n');
    expect(end).toBe(Buffer.byteLength('{"id":1, "t":"ä\\n"}\n{"id":2}\n'));
  });

  test("has a space for each newline inside a row, which keeps the row's length", async () => {
    const rows = await RowFile.open(file, journal, 0);
    await land(rows, '[\n‹{\n  "id": 1,\r\n  "b": [\n]\n}›,\n‹\n{"id":2}\n›, ‹\n{\n"id":3}›\n]');
    await rows.close();
    expect(await readFile(file, 'utf8')).toBe('{   "id": 1,\r   "b": [ ] }\n {"id":2} \n { "id":3}\n');
  });

  test('is refused if it has fewer bytes than the journal recorded, and the missing rows are never replaced', async () => {
    await appendFile(file, '{"id":1}\n');
    await expect(RowFile.open(file, journal, 20)).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${file} has 9 bytes, but the journal records 20`,
      facts: { hint: journal.advice },
    });
    expect(await readFile(file, 'utf8')).toBe('{"id":1}\n');
  });

  test('is journaled up to its end, in order, when it is closed', async () => {
    const rows = await RowFile.open(file, journal, 0);
    const ends: number[] = [];
    for (let n = 0; n < 50; n++) ends.push(await land(rows, `‹{"id":${n}}›`));
    await rows.close();
    expect(journal.state.map((page) => 'end' in page && page.end)).toEqual(ends);
    expect((await readFile(file)).length).toBe(ends.at(-1));
  });

  test('is cut to the end that the journal lists, and continued from there', async () => {
    const first = await RowFile.open(file, journal, 0);
    const end = await land(first, '‹{"id":1}›');
    await first.close();
    await appendFile(file, '{"id":2}\n{"id":3');
    const second = await RowFile.open(file, journal, end);
    expect(await land(second, '‹{"id":4}›')).toBe(end * 2);
    await second.close();
    expect(await readFile(file, 'utf8')).toBe('{"id":1}\n{"id":4}\n');
  });

  test('has a journal entry with a checksum for each page, even if the previous page is already durable', async () => {
    const rows = await RowFile.open(file, journal, 0);
    await land(rows, '‹\n{"id":1}›');
    await expect.poll(() => journal.state.length, { interval: 1 }).toBe(1);
    await land(rows, '‹{"id":2}›');
    await rows.close();
    const lines = [' {"id":1}\n', '{"id":2}\n'];
    expect(await readFile(file, 'utf8')).toBe(lines.join(''));
    expect(journal.state).toMatchObject(
      lines.map((line) => ({ type: 'hydrate.page', sha256: createHash('sha256').update(line).digest('hex') })),
    );
  });

  test("accepts no more rows if the journal can't be written, and reports this when it is closed", async () => {
    const rows = await RowFile.open(file, journal, 0);
    await journal.close();
    await land(rows, '‹{"id":1}›');
    await expect.poll(() => land(rows, '‹{"id":2}›').catch(() => 'refused'), { interval: 1 }).toBe('refused');
    await expect(rows.close()).rejects.toThrow(/closed|EBADF/);
  });
});
