import { expect, test } from 'vitest';
import { createRowScanner, type ExportFormat } from '../../src/source/row-scanner.js';

/** Scans the chunks in order, and lists their numbers of rows, ends and open bytes. */
function scan(format: ExportFormat, ...chunks: string[]) {
  const scanner = createRowScanner(format);
  const told = chunks.map((chunk) => {
    const { rows, end } = scanner.scan(Buffer.from(chunk));
    return [rows, end, scanner.openBytes];
  });
  return { told, last: scanner.finish(), header: scanner.header.toString() };
}

test('lines are counted at their ends, and bytes after the last end are open', () => {
  expect(scan('ndjson', '{"a', '":1}\n{}\n{"b"', ':2}')).toEqual({
    told: [
      [0, 0, 3],
      [2, 8, 4],
      [0, 0, 7],
    ],
    last: 1,
    header: '',
  });
  expect(scan('ndjson', '{}\n')).toEqual({ told: [[1, 3, 0]], last: 0, header: '' });
});

test.each([
  [['\r\n'], 0, 0],
  [['\r', '\n'], 0, 0],
  [['\r'], 0, 0],
  [['\r\r\n'], 0, 0],
  [['\r', '\r\n'], 0, 0],
  [['  \n', '\t', ' \r\n', ' '], 0, 0],
  [['  \n', '\t', ' {}\r\n', ' '], 1, 0],
  [['\u00a0\n'], 1, 0],
  [['\f\n'], 1, 0],
  [['\r{}\n'], 1, 0],
  [['7\n'], 1, 0],
  [['\r', '{}'], 0, 1],
  [['{}\r', '\n\r', '\n'], 1, 0],
])('a line counts as blank if it only has JSON white space: %j', (chunks, rows, last) => {
  const found = scan('ndjson', ...chunks);
  expect([found.told.reduce((sum, [count = 0]) => sum + count, 0), found.last]).toEqual([rows, last]);
});

test('CSV records are counted after the header, which is kept unaltered', () => {
  expect(scan('csv', 'id,na', 'me\r\n1,"a\nb"\r\n2', ',x\r\n3')).toEqual({
    told: [
      [0, 0, 5],
      [1, 13, 1],
      [1, 4, 1],
    ],
    last: 1,
    header: 'id,name\r\n',
  });
  expect(scan('csv', 'id\n1\n')).toEqual({ told: [[1, 5, 0]], last: 0, header: 'id\n' });
});

test("a header without a line end isn't counted as a row", () => {
  expect(scan('csv', 'id,name')).toEqual({ told: [[0, 0, 7]], last: 0, header: '' });
  expect(scan('csv', 'id\n')).toEqual({ told: [[0, 0, 0]], last: 0, header: 'id\n' });
});
