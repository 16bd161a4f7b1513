import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readLines, readWholeLines } from '../../src/formats/ndjson.js';
import { makeFolder } from '../journal/folder.js';
import { createSeeded } from '../seeded.js';

const MEGABYTE = 1024 * 1024;

async function write(lines: readonly string[], end = '\n'): Promise<string> {
  const file = path.join(await makeFolder(), 'rows.ndjson');
  await writeFile(file, lines.join('\n') + end);
  return file;
}

/** Lines whose lengths are near the size of the pieces in which a file is read. */
function makeLines(): string[] {
  const random = createSeeded(5);
  const lengths = [0, 1, 3 * MEGABYTE, 4 * MEGABYTE - 1, 4 * MEGABYTE, 11 * MEGABYTE, 2, 0];
  const short = Array.from({ length: 3_000 }, () => random.integer(4_000));
  return [...lengths, ...short].map((length, index) => String.fromCharCode(97 + (index % 26)).repeat(length));
}

test.each(['\n', ''])('the lines of a file are complete, however long they are (the file ends in %j)', async (end) => {
  const lines = makeLines();
  const file = await write([...lines, '{"last":"ß"}'], end);
  const read: string[] = [];
  for await (const line of readLines(file)) read.push(line.toString());
  expect(read).toEqual([...lines, '{"last":"ß"}']);
});

test('the pieces of a file end at line ends, and together equal the file', async () => {
  const file = await write(makeLines());
  const pieces: string[] = [];
  for await (const piece of readWholeLines(file)) pieces.push(piece.toString());
  expect(pieces.length).toBeGreaterThan(4);
  expect(pieces.every((piece) => piece.endsWith('\n'))).toBe(true);
  expect(pieces.join('')).toBe(`${makeLines().join('\n')}\n`);
});

test('an empty file has no lines', async () => {
  const read: Buffer[] = [];
  for await (const line of readLines(await write([], ''))) read.push(line);
  expect(read).toEqual([]);
});
