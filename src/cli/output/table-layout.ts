import { formatCount } from '../../formats/count.js';
import { measureWidth, truncateToWidth, wrapText } from './display-width.js';

/** The heading of a column, whose cells are at the left unless it says otherwise. */
export type Column = string | readonly [heading: string, align: 'right'];

export const right = (heading: string): Column => [heading, 'right'];

const GAP = '  ';
/** A GTIN stays whole in a column of this width. */
const LEAST_WIDTH = 14;
/** First strong isolate and its end: with them, right-to-left text in a cell does not reorder its neighbours. */
const ISOLATE = ['\u2068', '\u2069'] as const;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

type Cell = string | number | bigint;

/**
 * Lays plain texts out as a table with a header. On a terminal, the widest columns at the left are cut first. Then the last
 * columns are left out, and a line below names them. Columns at the right, which hold numbers, are never cut.
 */
export function layOutTable(columns: readonly Column[], cells: readonly Cell[][], terminal?: number): string {
  const rows = cells.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : formatCount(cell))));
  const header = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  const isRight = (at: number) => typeof columns[at] !== 'string';
  const all = header.map((name, i) =>
    rows.reduce((most, row) => Math.max(most, measureWidth(row[i] ?? '')), measureWidth(name)),
  );
  const shown = terminal === undefined ? all.length : countFitting(all, isRight, terminal);
  const widths = terminal === undefined ? all : fitWidths(all.slice(0, shown), isRight, terminal);
  const format = (row: string[]) =>
    widths.map((width, i) => padCell(row[i] ?? '', width, isRight(i), i === shown - 1)).join(GAP);
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  const table = `${[format(header), rule, ...rows.map(format)].join('\n')}\n`;
  if (shown === header.length) return table;
  const note = `… columns that do not fit: ${header.slice(shown).join(', ')}`;
  return `${table}${wrapText(note, terminal, '  ')}\n`;
}

/** The number of columns that fit once their texts are cut. The first is always shown. */
function countFitting(wanted: number[], isRight: (at: number) => boolean, terminal: number): number {
  let used = -GAP.length;
  const over = wanted.findIndex((width, i) => {
    used += GAP.length + (isRight(i) ? width : Math.min(width, LEAST_WIDTH));
    return used > terminal;
  });
  return over < 0 ? wanted.length : Math.max(over, 1);
}

function fitWidths(wanted: number[], isRight: (at: number) => boolean, terminal: number): number[] {
  const widths = [...wanted];
  const used = widths.reduce((a, b) => a + b, GAP.length * (wanted.length - 1));
  for (let over = used - terminal; over > 0; over -= 1) {
    const candidates = widths.map((width, i) => (!isRight(i) && width > LEAST_WIDTH ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padCell(text: string, width: number, isRight: boolean, isLast: boolean): string {
  const cut = truncateToWidth(text, width);
  const space = ' '.repeat(Math.max(0, width - measureWidth(cut)));
  const shown = RIGHT_TO_LEFT.test(cut) ? ISOLATE[0] + cut + ISOLATE[1] : cut;
  if (isRight) return space + shown;
  return isLast ? shown : shown + space;
}
