import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CsvScanner, parseCsvRecord, readCsvRecords } from '../../src/formats/csv.js';
import { makeFolder } from '../journal/folder.js';
import { createSeeded, type Seeded } from '../seeded.js';

type Cell = string | null;

/** Tables of ugly cells: nulls, empty texts, quotes, commas, newlines, letters of several bytes. */
function makeTable(random: Seeded): Cell[][] {
  const width = 1 + random.integer(4);
  const cell = () =>
    random.pick<Cell>([null, '', 'a', `"${random.text('x",\n\rä😀', 5)}`, random.text('",\n', 3), ' b ']);
  const rows = Array.from({ length: random.integer(8) }, () => Array.from({ length: width }, cell));
  // A record of one null is a blank line, which is no record.
  return rows.filter((row) => row.some((value) => value !== null) || width > 1);
}

/** Quotes the cells that need quotes, and some of the others. */
function writeCell(cell: Cell, random: Seeded): string {
  if (cell === null) return '';
  const isQuoted = cell === '' || /[",\r\n]/.test(cell) || random.integer(3) === 0;
  return isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function writeTable(table: Cell[][], random: Seeded): string {
  const newline = random.pick(['\n', '\r\n']);
  const lines = table.map((row) => row.map((cell) => writeCell(cell, random)).join(','));
  const text = lines.map((line) => line + newline + (random.integer(5) === 0 ? newline : '')).join('');
  return (random.integer(3) === 0 ? '\ufeff' : '') + (random.integer(2) === 0 ? text.replace(/[\r\n]+$/, '') : text);
}

/** The offsets after the records that end with a newline, found in chunks of the sizes that `next` returns. */
function scan(bytes: Buffer, next: () => number): { ends: number[]; isOpen: boolean } {
  const scanner = new CsvScanner();
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = next();
    scanner.scan(bytes.subarray(at, at + size), (end) => ends.push(at + end));
    at += size;
  }
  return { ends, isOpen: scanner.isOpen };
}

describe('CSV', () => {
  test('is read as it was written, with nulls, empty texts, quotes and newlines in cells', async () => {
    const random = createSeeded(71);
    const file = path.join(await makeFolder(), 'table.csv');
    for (let round = 0; round < 150; round++) {
      const table = makeTable(random);
      const text = writeTable(table, random);
      await writeFile(file, text);
      const cells: (Cell[] | undefined)[] = [];
      for await (const { bytes, line } of readCsvRecords(file)) {
        expect(text.split('\n')[line - 1]?.replace(/^\ufeff/, '')).toContain(bytes.toString().split('\n')[0] as string);
        cells.push(parseCsvRecord(bytes.toString()));
      }
      expect(cells).toEqual(table);
    }
  });

  test('has the same record ends for any chunk sizes', () => {
    const random = createSeeded(72);
    for (let round = 0; round < 150; round++) {
      const table = makeTable(random);
      const bytes = Buffer.from(writeTable(table, random));
      const whole = scan(bytes, () => bytes.length + 1);
      expect(whole.ends.length + Number(whole.isOpen)).toBe(table.length);
      expect(scan(bytes, () => 1)).toEqual(whole);
      expect(scan(bytes, () => 1 + random.integer(5))).toEqual(whole);
    }
  });

  test.each(['a,"b', 'a,"b"c', '"a" ,b', 'a,"b" '])('with invalid quoting is refused: %s', (text) => {
    expect(parseCsvRecord(text)).toBeUndefined();
  });

  test("may have a quote inside a cell that doesn't begin with one", () => {
    expect(parseCsvRecord('5" pipe,a')).toEqual(['5" pipe', 'a']);
    expect(scan(Buffer.from('5" pipe,a\nb,c\n'), () => 3).ends).toEqual([10, 14]);
  });
});
