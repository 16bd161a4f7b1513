import { countOf, formatCount } from '../../formats/count.js';
import { formatPercent } from '../format.js';
import { type Chart, COLOR, COUNTS, DAYS } from './draw-chart.js';

export interface HistogramStep {
  from_pct: number;
  /** The upper limit of the step; null for the last step, which has none. */
  up_to_pct: number | null;
  spreads: bigint;
}

/** The quartiles of all spreads on one day, as percentages. `day` has the form `2026-11-20`. */
export interface DaySpread {
  day: string;
  p25: number;
  median: number;
  p75: number;
}

const LAST = 100;
/** Half of the gap between two bars, in percentage points of spread. */
const GAP = 0.35;

/** Draws a histogram of products by spread. The last bar counts all spreads of 100 percent or more. */
export function histogramChart(steps: readonly HistogramStep[]): Chart {
  const total = steps.reduce((sum, { spreads }) => sum + Number(spreads), 0);
  const beyond = Number(steps.find(({ up_to_pct }) => up_to_pct === null)?.spreads ?? 0);
  const peak = steps.reduce((best, step) => (step.spreads > best.spreads ? step : best), steps[0] as HistogramStep);
  return {
    label:
      `Histogram of price spreads of ${countOf(total, 'product')} in steps of 5 percent. ` +
      `The largest step begins at ${peak.from_pct} percent and holds ${formatCount(peak.spreads)}; ` +
      `${formatCount(beyond)} lie at 100 percent or more.`,
    height: 210,
    padding: { left: 44, right: 14, top: 12, bottom: 40 },
    values: steps.map(({ from_pct, up_to_pct, spreads }) => ({
      from: from_pct + GAP,
      to: (up_to_pct ?? LAST + 5) - GAP,
      products: Number(spreads),
      beyond: up_to_pct === null,
    })),
    layer: [
      {
        mark: { type: 'rect' },
        encoding: {
          x: {
            field: 'from',
            type: 'quantitative',
            scale: { domain: [0, LAST + 5], nice: false },
            axis: { values: [0, 20, 40, 60, 80, 100], grid: false, title: 'spread in %' },
          },
          x2: { field: 'to' },
          y: { ...COUNTS, field: 'products' },
          y2: { datum: 0 },
          color: { condition: { test: { field: 'beyond', equal: true }, value: COLOR.faint }, value: COLOR.accent },
        },
      },
    ],
  };
}

/** Draws the median spread of each day, with the range of the middle half of the products. */
export function spreadDaysChart(days: readonly DaySpread[]): Chart {
  const [first, last] = [days[0], days.at(-1)];
  const x = { ...DAYS, field: 'at' } as const;
  const y = { type: 'quantitative', scale: { zero: true }, axis: { tickCount: 4, title: null } } as const;
  return {
    label:
      `Median spread of ${countOf(days.length, 'day')}: ${formatPercent(first?.median ?? 0)} on ${first?.day}, ` +
      `${formatPercent(last?.median ?? 0)} on ${last?.day}, with the range of the middle 50 %.`,
    height: 196,
    padding: { left: 44, right: 14, top: 12, bottom: 26 },
    values: days.map(({ day, p25, median, p75 }) => ({ at: Date.parse(day), p25, median, p75 })),
    layer: [
      {
        mark: { type: 'area', color: COLOR.accentSoft, opacity: 0.35 },
        encoding: { x, y: { ...y, field: 'p25' }, y2: { field: 'p75' } },
      },
      { mark: { type: 'line', color: COLOR.accent, strokeWidth: 2.5 }, encoding: { x, y: { ...y, field: 'median' } } },
    ],
  };
}
