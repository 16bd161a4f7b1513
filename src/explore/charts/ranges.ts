import { shortenNames } from '../format.js';
import { type Chart, COLOR } from './draw-chart.js';

/** A row of a range chart: the median, and the range of the middle half of the values. */
export interface Range {
  name: string;
  low: number;
  middle: number;
  high: number;
}

interface RangesOptions {
  label: string;
  axisTitle: string;
  /** A value to mark with a vertical line. */
  reference?: number;
}

const ROW = 22;
const NAME_WIDTH = 138;
const LONGEST_NAME = 22;

export function rangesChart(ranges: readonly Range[], { label, axisTitle, reference }: RangesOptions): Chart {
  const x = {
    type: 'quantitative',
    scale: { zero: reference === undefined, nice: true },
    axis: { tickCount: 5, title: axisTitle },
  } as const;
  // Rows are identified by position, because names may repeat.
  const names = shortenNames(
    ranges.map(({ name }) => name),
    LONGEST_NAME,
  );
  const line = { mark: { type: 'rule', color: COLOR.soft } as const, encoding: { x: { datum: reference ?? 0, ...x } } };
  return {
    ...layOutRows(ranges.length, label),
    values: ranges.map(({ low, middle, high }, place) => ({ place, name: names[place] ?? '', low, middle, high })),
    layer: [
      ...(reference === undefined ? [] : [line]),
      {
        mark: { type: 'rule', strokeWidth: 5, strokeCap: 'round', color: COLOR.accentSoft },
        encoding: { y: Y, x: { field: 'low', ...x }, x2: { field: 'high' } },
      },
      {
        mark: { type: 'point', filled: true, size: 64, color: COLOR.ink, opacity: 1 },
        encoding: { y: Y, x: { field: 'middle', ...x } },
      },
      NAMES,
    ],
  };
}

const Y = { field: 'place', type: 'ordinal', axis: null, scale: { paddingInner: 0.4, paddingOuter: 0.2 } } as const;

const NAMES = {
  mark: { type: 'text', align: 'right', baseline: 'middle', color: COLOR.ink, fontSize: 12 },
  encoding: { y: Y, x: { value: -10 }, text: { field: 'name', type: 'nominal' } },
} as const;

function layOutRows(rows: number, label: string): Pick<Chart, 'label' | 'height' | 'padding'> {
  const padding = { left: NAME_WIDTH, right: 14, top: 6, bottom: 38 };
  return { label, height: rows * ROW + padding.top + padding.bottom, padding };
}
