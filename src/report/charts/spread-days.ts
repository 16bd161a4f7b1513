import { countOf } from '../../formats/count.js';
import { type Chart, COLOR } from '../chart.js';
import { formatPercent } from '../format.js';
import type { DaySpread } from '../rows.js';

/** The median spread of each closed day, and the range that the middle 50 % of the products lie in. */
export function spreadDaysChart(days: readonly DaySpread[]): Chart {
  const [first, last] = [days[0], days.at(-1)];
  const x = {
    field: 'at',
    type: 'temporal',
    scale: { type: 'utc', nice: false },
    axis: { grid: false, format: '%-d %b', tickCount: 4, title: null },
  } as const;
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
