/** Export rows → CSV in a service's own habit of writing it (section 2: UTF-8, one header row). */
import type { Habits } from './habits.js';
import type { Wire, WriteJson } from './wire-json.js';

const BYTE_ORDER_MARK = '\ufeff';

/** The records, header first, whose columns hang on no row; line ends are the caller's. */
export function writeCsv(
  columns: readonly string[],
  rows: readonly { [name: string]: Wire }[],
  habits: Habits,
  writeJson: WriteJson,
): string[] {
  const mark = habits.csvMark ? BYTE_ORDER_MARK : '';
  const records = rows.map((row) => columns.map((name) => writeCell(name, row[name] ?? null, habits, writeJson)));
  return [mark + columns.join(','), ...records.map((cells) => cells.join(','))];
}

function writeCell(name: string, value: Wire, habits: Habits, writeJson: WriteJson): string {
  if (value === null) return '';
  if (name === 'datasets' && Array.isArray(value) && habits.csvLists !== 'json') {
    return quote((value as string[]).join(habits.csvLists), habits);
  }
  return quote(typeof value === 'string' ? value : writeJson(value), habits, typeof value === 'object');
}

function quote(text: string, { csvQuotes }: Habits, isJson = false): string {
  const isNeeded = isJson || text === '' || /[",\r\n]|^\s|\s$/.test(text);
  return isNeeded || csvQuotes === 'always' ? `"${text.replaceAll('"', '""')}"` : text;
}
