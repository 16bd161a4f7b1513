import { measureWidth, truncateToWidth } from './display-width.js';
import { wrapText } from './wrap-text.js';

export type Align = 'left' | 'right';

const GAP = '  ';
/** No column is squeezed below this to fit a terminal: a GTIN stays whole. */
const LEAST_WIDTH = 14;
// First strong isolate and its end, so that right-to-left text in a cell does not reorder its neighbours.
const ISOLATE = ['\u2068', '\u2069'] as const;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Lays plain texts out as a table with a header. On a terminal, the widest text columns are cut first; then the last
 * columns are left out, and a line below names them. Numbers are never cut.
 */
export function layOutTable(header: string[], rows: string[][], aligns: Align[], terminal?: number): string {
  const all = header.map((name, i) =>
    rows.reduce((most, row) => Math.max(most, measureWidth(row[i] ?? '')), measureWidth(name)),
  );
  const shown = terminal === undefined ? all.length : countFitting(all, aligns, terminal);
  const widths = terminal === undefined ? all : fitWidths(all.slice(0, shown), aligns, terminal);
  const format = (cells: string[]) =>
    widths.map((width, i) => padCell(cells[i] ?? '', width, aligns[i] ?? 'left', i === shown - 1)).join(GAP);
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  const table = `${[format(header), rule, ...rows.map(format)].join('\n')}\n`;
  if (shown === header.length) return table;
  const note = `… columns that do not fit: ${header.slice(shown).join(', ')}`;
  return `${table}${wrapText(note, terminal, '  ')}\n`;
}

/** How many columns fit, from the left, once their texts are cut; the first is always shown. */
function countFitting(wanted: number[], aligns: Align[], terminal: number): number {
  let used = -GAP.length;
  const over = wanted.findIndex((width, i) => {
    used += GAP.length + (aligns[i] === 'left' ? Math.min(width, LEAST_WIDTH) : width);
    return used > terminal;
  });
  return over < 0 ? wanted.length : Math.max(over, 1);
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
