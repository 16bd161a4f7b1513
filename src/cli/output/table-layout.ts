import { measureWidth, truncateToWidth } from './display-width.js';

export type Align = 'left' | 'right';

const GAP = '  ';
/** No column is squeezed below this to fit a terminal. */
const LEAST_WIDTH = 8;
// First strong isolate and its end: a right-to-left text in a cell doesn't reorder its neighbours.
const ISOLATE = ['\u2068', '\u2069'] as const;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Lays plain texts out as a table with a header. With a terminal's width, the widest text columns give way first;
 * numbers are never cut.
 */
export function layOutTable(header: string[], rows: string[][], aligns: Align[], terminal?: number): string {
  const wanted = header.map((name, i) =>
    Math.max(measureWidth(name), ...rows.map((row) => measureWidth(row[i] ?? ''))),
  );
  const widths = terminal === undefined ? wanted : fitWidths(wanted, aligns, terminal);
  const format = (cells: string[]) =>
    cells.map((cell, i) => padCell(cell, widths[i] ?? 0, aligns[i] ?? 'left', i === cells.length - 1)).join(GAP);
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  return `${[format(header), rule, ...rows.map(format)].join('\n')}\n`;
}

function fitWidths(wanted: number[], aligns: Align[], terminal: number): number[] {
  const widths = [...wanted];
  const room = terminal - GAP.length * (wanted.length - 1);
  for (let over = sum(widths) - room; over > 0; over -= 1) {
    const candidates = widths.map((width, i) => (aligns[i] === 'left' && width > LEAST_WIDTH ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padCell(text: string, width: number, align: Align, last: boolean): string {
  const cut = truncateToWidth(text, width);
  const space = ' '.repeat(Math.max(0, width - measureWidth(cut)));
  const shown = RIGHT_TO_LEFT.test(cut) ? ISOLATE[0] + cut + ISOLATE[1] : cut;
  if (align === 'right') return space + shown;
  return last ? shown : shown + space;
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
