import { countOf } from '../../formats/count.js';
import { type Chart, COLOR, COUNTS, DAYS } from './draw-chart.js';

/** The number of changes of one kind on one day, such as `2026-11-20`. */
export interface DayChanges {
  day: string;
  kind: string;
  changes: bigint;
}

/** The kinds of change, in the order in which bars are stacked from bottom to top. */
export const KINDS = [
  { kind: 'CHANGED', name: 'changed', color: COLOR.accent },
  { kind: 'NEW', name: 'new', color: COLOR.accentSoft },
  { kind: 'RELISTED', name: 'listed again', color: COLOR.soft },
  { kind: 'REMOVED', name: 'removed', color: COLOR.faint },
] as const;

const DAY_MS = 86_400_000;
/** Half of the gap between two bars, as milliseconds on the time axis. */
const GAP_MS = DAY_MS / 12;

export function changesChart(days: readonly DayChanges[]): Chart {
  const total = days.reduce((sum, { changes }) => sum + changes, 0n);
  const first = days[0]?.day ?? '';
  const last = days.at(-1)?.day ?? '';
  return {
    label: `Bars of changes a day from ${first} to ${last}, ${countOf(total, 'change')} in all. The table below has the sums by kind.`,
    height: 150,
    padding: { left: 44, right: 14, top: 10, bottom: 26 },
    values: stackDays(days),
    layer: [
      {
        mark: { type: 'rect' },
        encoding: {
          x: { ...DAYS, field: 'from' },
          x2: { field: 'to' },
          y: { ...COUNTS, field: 'low', axis: { ...COUNTS.axis, tickCount: 3 } },
          y2: { field: 'high' },
          color: {
            field: 'kind',
            type: 'ordinal',
            legend: null,
            scale: { domain: KINDS.map((_, place) => place), range: KINDS.map(({ color }) => color) },
          },
        },
      },
    ],
  };
}

/** Stacks the changes of each day by kind. Skips unknown kinds. */
function stackDays(days: readonly DayChanges[]): Chart['values'] {
  const heights = new Map<string, number>();
  return KINDS.flatMap(({ kind }, place) =>
    days
      .filter((day) => day.kind === kind)
      .map(({ day, changes }) => {
        const low = heights.get(day) ?? 0;
        const high = low + Number(changes);
        heights.set(day, high);
        const from = Date.parse(day);
        return { from: from + GAP_MS, to: from + DAY_MS - GAP_MS, kind: place, low, high };
      }),
  );
}
