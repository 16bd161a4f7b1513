import { readFileSync, writeFileSync } from 'node:fs';
import { parseCsvRecord } from '../../src/formats/csv.js';

/** In place of a value of a landed row, one that is hard. */
const HARD_LINES: ((line: string) => string)[] = [
  (line) => line.replace(/"price": ?[\d.]+/, '"price":99999999999999.9999'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":1.23450000000000000'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":1.23456'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":12345678901234567'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":1.25e2'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":1e-7'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":"12.50"'),
  (line) => line.replace(/"price": ?[\d.]+/, '"price":0.0001'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"2026-02-28T24:00:00Z"'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"2026-02-29T01:00:00Z"'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"2026-01-01 01:02:03.123456789+05:30"'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"0001-01-01T00:30:00+01:00"'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"2026-12-31T23:59:60Z"'),
  (line) => line.replace(/"firstSeenAt": ?"[^"]+"/, '"firstSeenAt":"1969-12-31T23:59:59.999999Z"'),
  (line) => line.replace(/"title": ?"[^"]*"/, '"title":"Τέλος ΣΑΣ \\"🛒\\" \\u00e9\\n"'),
  (line) => line.replace(/"gtin": ?("[^"]*"|null)/, '"gtin":"00-40 12345"'),
  (line) =>
    line.replace(/"gtin": ?("[^"]*"|null)/, '"gtin":null,"x":{"b":[1.50,1e3,12345678901234567890,null],"a":"ü"}'),
  (line) =>
    line.replace(/"attributes": ?\{/, '"attributes":{"long":0.12345678901234567890,"n":1.50,"deep":[{"a":null}],'),
  (line) => line.replace(/"site": ?\{/, '"site":{"country":"HR",'),
  (line) => line.replace(/"id": ?\d+/, '"id":"1.5"'),
  (line) => line.replace(/"id": ?\d+/, '"id":9223372036854775808'),
  (line) => line.replace(/"brand": ?("[^"]*"|null)/, '"brand":"Ça & İ-ß ٣","mpn":"№ 7/A"'),
  (line) => line.slice(0, -9),
  () => '[1]',
  (line) => line.replace(/"source": ?\{[^}]*\}/, '"source":7'),
];

/** A cell of CSV is text alone: the same kinds of values, by column. */
const HARD_CELLS: [string, string][] = [
  ['price', '99999999999999.9999'],
  ['price', '1.23456'],
  ['price', '"1,5"'],
  ['price', '1.25e2'],
  ['price', ''],
  ['price', '""'],
  ['first', '2026-01-01 01:02:03.123456789+05:30'],
  ['first', 'yesterday'],
  ['title', '"a ""b"", c\nd"'],
  ['title', 'x"y'],
  ['gtin', '00-40 12345'],
  ['brand', 'ΣΑΣ'],
  ['attributes', '"{""n"":1.5e3,""m"":12e-7,""k"":-0,""d"":1,""d"":2, ""s"":""\\u00e9\\/""}"'],
  ['attributes', '"[1e21,1E5,123456e10,1e-400,2.50]"'],
  ['attributes', '"{""long"":0.12345678901234567890,""e"": 1e3}"'],
  ['attributes', '"{""half"":""\\ud800""}"'],
  ['attributes', '"{""a"":1"'],
  ['datasets', '"Toys and sports; Other, one"'],
  ['datasets', '"[""a"",1.50,null]"'],
  ['gtin', '"40""x"""y'],
  ['gtin', '12,13'],
  ['mpn', ' ٣№ '],
];

/** Puts hard values into a landed file of an export: into each third line, or each fourth record of CSV. */
export function harden(file: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const isCsv = file.endsWith('.csv');
  const header = isCsv ? (lines[0] ?? '').replace('\uFEFF', '').split(',') : [];
  const made = lines.map((line, at) => {
    if (line === '' || (isCsv && at === 0)) return line;
    if (!isCsv) return at % 3 === 0 ? (HARD_LINES[(at / 3) % HARD_LINES.length]?.(line) ?? line) : line;
    if (at % 4 !== 0) return line;
    const [column, value] = HARD_CELLS[(at / 4) % HARD_CELLS.length] ?? ['', ''];
    const quote = (cell: string | null) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`);
    const cells = (parseCsvRecord(line.trimEnd()) ?? []).map(quote);
    const place = header.findIndex((name) => name.toLowerCase().startsWith(column));
    if (cells.length !== header.length || place < 0) return line;
    cells[place] = value;
    return cells.join(',');
  });
  writeFileSync(file, made.join('\n'));
}
