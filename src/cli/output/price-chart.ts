import { paint, type Style } from '../style.js';

export interface DayPrices {
  min: number;
  median: number;
  max: number;
}

export interface ChartOptions {
  labels: { first: string; last: string };
  width: number | undefined;
  style: Style;
}

const ROWS = 8;
const WIDTH_ELSEWHERE = 110;
const LEAST_CELLS = 8;
/** The scale is logarithmic if the highest price divided by the lowest price is more than this. */
const WIDE_RANGE = 8;
const MARKS = { range: '░', median: '━' } as const;

/**
 * Draws a chart of a product's prices. A band extends from the lowest to the highest price of each day, and a line
 * shows the median. Days without prices are undefined. If there are more days than columns, several adjacent days share
 * a column. Returns an empty string if there are no prices.
 */
export function drawPriceChart(days: readonly (DayPrices | undefined)[], options: ChartOptions): string {
  const priced = days.filter((day) => day !== undefined);
  if (priced.length === 0) return '';
  const lowest = Math.min(...priced.map(({ min }) => min));
  const highest = Math.max(...priced.map(({ max }) => max));
  const [top, bottom] = [highest.toFixed(2), lowest.toFixed(2)];
  const margin = Math.max(top.length, bottom.length);
  const { width = WIDTH_ELSEWHERE, style, labels } = options;
  const cells = joinDays(days, Math.max(LEAST_CELLS, width - margin - 2));
  const rowOf = createScale(lowest, highest);
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const label = row === 0 ? top : row === ROWS - 1 ? bottom : '';
    const marks = cells.map((cell) => markAt(cell, row, rowOf)).join('');
    return `${label.padStart(margin)} ┤${paint(marks, [/░+/gu, style.dim])}`.trimEnd();
  });
  const axis = `${' '.repeat(margin)} └${'─'.repeat(cells.length)}`;
  return `${[...lines, axis, ' '.repeat(margin + 2) + spreadLabels(labels, cells.length)].join('\n')}\n`;
}

/** Returns a function that converts a price to a row of the chart. The highest price is in row 0. */
function createScale(lowest: number, highest: number): (price: number) => number {
  if (lowest === highest) return () => ROWS / 2;
  const scale = highest > WIDE_RANGE * lowest && lowest > 0 ? Math.log : (price: number) => price;
  const [low, high] = [scale(lowest), scale(highest)];
  return (price) => Math.round(((high - scale(price)) / (high - low)) * (ROWS - 1));
}

function markAt(cell: DayPrices | undefined, row: number, rowOf: (price: number) => number): string {
  if (cell === undefined) return ' ';
  if (rowOf(cell.median) === row) return MARKS.median;
  return rowOf(cell.max) <= row && row <= rowOf(cell.min) ? MARKS.range : ' ';
}

/** Merges adjacent days into groups, so that at most `most` groups remain. A group has the median of its last day. */
function joinDays(days: readonly (DayPrices | undefined)[], most: number): (DayPrices | undefined)[] {
  const size = Math.ceil(days.length / most);
  return Array.from({ length: Math.ceil(days.length / size) }, (_, i) => {
    const group = days.slice(i * size, (i + 1) * size).filter((day) => day !== undefined);
    const last = group.at(-1);
    if (last === undefined) return undefined;
    const min = Math.min(...group.map((day) => day.min));
    return { median: last.median, min, max: Math.max(...group.map((day) => day.max)) };
  });
}

/** Puts a label at each end of the axis. If there isn't room for both labels, puts only the last one there. */
function spreadLabels({ first, last }: ChartOptions['labels'], cells: number): string {
  const gap = cells - first.length - last.length;
  return first === last || gap < 1 ? last : first + ' '.repeat(gap) + last;
}
