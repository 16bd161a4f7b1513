import { countOf } from '../../formats/count.js';
import { type Chart, COLOR, DAYS } from './draw-chart.js';

/** A line of a chart. Points are sorted by `x`, which is a number or an instant. */
export interface Line {
  name: string;
  points: { x: number | Date; y: number }[];
}

export interface LinesOptions {
  /** Axis titles. */
  x: string;
  y: string;
  /** A value to mark with a horizontal line, such as 100 for an index. */
  reference?: number;
}

/** The maximum number of lines in a chart, because readers can't distinguish more colors. */
export const MOST_LINES = 8;

/** CSS variables for the colors of the lines, in order. */
const COLORS = [COLOR.accent, ...Array.from({ length: MOST_LINES - 1 }, (_, k) => `var(--line-${k + 2})`)];

/** Builds a line chart over time or over a number. Draws at most `MOST_LINES` lines. */
export function linesChart(lines: readonly Line[], { x, y, reference }: LinesOptions): Chart {
  const drawn = lines.slice(0, MOST_LINES);
  const points = drawn.flatMap((line, place) => line.points.map((point) => ({ ...point, place })));
  const values = points.map((point) => ({ ...point, x: point.x instanceof Date ? point.x.getTime() : point.x }));
  const isTime = points.some((point) => point.x instanceof Date);
  const ys = points.map((point) => point.y);
  const axis = isTime
    ? { ...DAYS, axis: { ...DAYS.axis, format: '%b %Y', labelOverlap: true } }
    : ({ type: 'quantitative', axis: { grid: false, tickCount: 5, title: x } } as const);
  const scale = {
    type: 'quantitative',
    scale: { zero: false, nice: true },
    axis: { tickCount: 4, title: null },
  } as const;
  const rule = {
    mark: { type: 'rule', color: COLOR.soft } as const,
    encoding: { y: { datum: reference ?? 0, ...scale } },
  };
  return {
    label: `${countOf(drawn.length, 'line')} of ${y} by ${x}, between ${round(Math.min(...ys))} and ${round(Math.max(...ys))}. The table below has the figures.`,
    height: 220,
    padding: { left: 44, right: 14, top: 12, bottom: isTime ? 26 : 40 },
    values,
    layer: [
      ...(reference === undefined ? [] : [rule]),
      {
        mark: { type: 'line', strokeWidth: 2, point: { size: 16, filled: true } },
        encoding: {
          x: { field: 'x', ...axis },
          y: { field: 'y', ...scale },
          color: {
            field: 'place',
            type: 'ordinal',
            legend: null,
            scale: { domain: drawn.map((_, place) => place), range: COLORS.slice(0, drawn.length) },
          },
        },
      },
    ],
  };
}

const round = (value: number) => Number(value.toPrecision(4));
