import { formatCount } from '../../formats/count.js';
import { measureWidth, truncateToWidth, wrapText } from './display-width.js';

/** The heading of a column. If it is a pair, the column is right-aligned. Otherwise, it is left-aligned. */
export type Column = string | readonly [heading: string, align: 'right'];

export const right = (heading: string): Column => [heading, 'right'];

const GAP = '  ';
/** The minimum width of a column with single words, such as ids and dates. A GTIN has at most 14 digits. */
const LEAST_WORD = 14;
/** The minimum width of a column with text of several words. */
const LEAST_TEXT = 12;
/**
 * The minimum width of the first column with text of several words, because it identifies the row. On a wide terminal,
 * the minimum is a third of the terminal's width.
 */
const LEAST_FIRST_TEXT = 24;
/**
 * The highest rank at which the first column with text of several words gets the minimum width LEAST_FIRST_TEXT. At
 * most one other column, such as a date, then precedes it.
 */
const LAST_FIRST_RANK = 1;
/** "First strong isolate" and "pop directional isolate" keep right-to-left text from reordering adjacent cells. */
const ISOLATE = ['\u2068', '\u2069'] as const;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

type Cell = string | number | bigint;

/**
 * Formats plain text as a table with a header. If the terminal is too narrow, the columns that are empty in all rows
 * are omitted first, then the columns with the highest rank. The omitted columns are listed below the table. If the
 * rest is still too wide, the widest columns are truncated. Right-aligned columns contain numbers and are never
 * truncated.
 */
export function layOutTable(
  columns: readonly Column[],
  cells: readonly Cell[][],
  terminal?: number,
  ranks: readonly number[] = columns.map((_, at) => at),
): string {
  const rows = cells.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : formatCount(cell))));
  const measured = keepFirstText(
    columns.map((column, at) => {
      const [heading, align] = typeof column === 'string' ? [column] : column;
      return measureColumn(
        heading,
        align !== undefined,
        ranks[at] ?? at,
        rows.map((row) => row[at] ?? ''),
      );
    }),
    terminal,
  );
  const { shown, leftOut, empty } = chooseColumns(measured, terminal ?? Number.POSITIVE_INFINITY);
  const widths = fitWidths(shown, terminal ?? Number.POSITIVE_INFINITY);
  const format = (show: (column: MeasuredColumn) => string) =>
    shown.map((one, i) => padCell(show(one), widths[i] ?? 0, one.isRight, i === shown.length - 1)).join(GAP);
  const rule = widths.map((width) => '─'.repeat(width)).join(GAP);
  const lines = [
    format(({ heading }) => heading),
    rule,
    ...rows.map((_, at) => format(({ cells }) => cells[at] ?? '')),
  ];
  const notes = [
    ...(leftOut.length === 0 ? [] : [`… columns that don't fit: ${leftOut.map(({ heading }) => heading).join(', ')}`]),
    ...(empty.length === 0 ? [] : [`… empty columns: ${empty.map(({ heading }) => heading).join(', ')}`]),
  ];
  return [...lines, ...notes.map((note) => wrapText(note, terminal, '  '))].map((line) => `${line}\n`).join('');
}

interface MeasuredColumn {
  heading: string;
  isRight: boolean;
  rank: number;
  cells: readonly string[];
  width: number;
  /** The minimum width to which the column may be truncated. */
  least: number;
}

const hasWords = ({ cells }: Pick<MeasuredColumn, 'cells'>) => cells.some((cell) => cell.includes(' '));

function keepFirstText(columns: readonly MeasuredColumn[], terminal = 0): MeasuredColumn[] {
  const least = Math.max(LEAST_FIRST_TEXT, Math.floor(terminal / 3));
  const [first] = columns.filter((one) => one.rank <= LAST_FIRST_RANK && !one.isRight && hasWords(one));
  return columns.map((one) => (one === first ? { ...one, least: Math.min(one.width, least) } : one));
}

function measureColumn(heading: string, isRight: boolean, rank: number, cells: readonly string[]): MeasuredColumn {
  const width = cells.reduce((most, cell) => Math.max(most, measureWidth(cell)), measureWidth(heading));
  const least = hasWords({ cells }) ? LEAST_TEXT : LEAST_WORD;
  return { heading, isRight, rank, cells, width, least: isRight ? width : Math.min(width, least) };
}

/** Chooses the columns that fit if their values are truncated as far as possible. Keeps at least one column. */
function chooseColumns(all: readonly MeasuredColumn[], terminal: number) {
  const isEmpty = ({ cells }: MeasuredColumn) => cells.length > 0 && cells.every((cell) => cell === '');
  const isTooWide = (some: readonly MeasuredColumn[]) => sumWidths(some.map(({ least }) => least)) > terminal;
  if (!isTooWide(all)) return { shown: all, leftOut: [], empty: [] };
  let shown = all.filter((one) => !isEmpty(one));
  while (shown.length > 1 && isTooWide(shown)) {
    const last = Math.max(...shown.map(({ rank }) => rank));
    shown = shown.filter(({ rank }) => rank !== last);
  }
  if (shown.length === 0) shown = all.slice(0, 1);
  const hidden = all.filter((one) => !shown.includes(one));
  return { shown, leftOut: hidden.filter((one) => !isEmpty(one)), empty: hidden.filter(isEmpty) };
}

const sumWidths = (widths: readonly number[]) => widths.reduce((a, b) => a + b, GAP.length * (widths.length - 1));

function fitWidths(columns: readonly MeasuredColumn[], terminal: number): number[] {
  const widths = columns.map(({ width }) => width);
  for (let over = sumWidths(widths) - terminal; over > 0; over -= 1) {
    const candidates = columns.map(({ least }, i) => ((widths[i] ?? 0) > least ? (widths[i] ?? 0) : 0));
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
