import { type Chart, COLOR } from '../chart.js';

/** What an offer cost, by runs of days; between two runs it was not listed. */
export interface PriceLine {
  runs: { from: Date; to: Date; price: number }[];
  /** The offer that is the cheapest now. */
  isCheapest: boolean;
}

/** Prices of the offers of one product over time, as steps. At least one line has a run. */
export function priceLinesChart(lines: readonly PriceLine[], span: { from: Date; to: Date }, label: string): Chart {
  const prices = lines.flatMap(({ runs }) => runs.map(({ price }) => price));
  const { domain, format } = chooseScale(Math.min(...prices), Math.max(...prices));
  const x = {
    field: 'at',
    type: 'temporal',
    scale: { type: 'utc', nice: false, domain: [span.from.getTime(), span.to.getTime()] as number[] },
    axis: { grid: false, format: '%-d %b', tickCount: 4, title: null },
  } as const;
  const y = {
    field: 'price',
    type: 'quantitative',
    scale: { zero: false, nice: true, domain },
    axis: { tickCount: 4, title: null, format },
  } as const;
  return {
    label,
    height: 190,
    padding: { left: 56, right: 14, top: 12, bottom: 26 },
    values: listPoints(lines),
    layer: [
      {
        mark: { type: 'line', interpolate: 'step-after', invalid: 'break-paths-show-path-domains' },
        encoding: {
          x,
          y,
          detail: { field: 'line', type: 'ordinal' },
          color: { condition: { test: IS_CHEAPEST, value: COLOR.accent }, value: COLOR.faint },
          strokeWidth: { condition: { test: IS_CHEAPEST, value: 2.5 }, value: 1.25 },
        },
      },
      {
        transform: [{ filter: { and: [{ field: 'end', equal: true }, IS_CHEAPEST] } }],
        mark: { type: 'point', filled: true, size: 40, color: COLOR.accent, opacity: 1 },
        encoding: { x, y },
      },
    ],
  };
}

const IS_CHEAPEST = { field: 'cheapest', equal: true } as const;

/** The points of all lines; the cheapest offer comes last and lies above the others. */
function listPoints(lines: readonly PriceLine[]): Chart['values'] {
  const ordered = [...lines].sort((a, b) => Number(a.isCheapest) - Number(b.isCheapest));
  return ordered.flatMap(({ runs, isCheapest }, line) =>
    runs.flatMap(({ from, to, price }, k) => {
      const point = (at: Date, value: number | null, end = false) => {
        return { line, cheapest: isCheapest, at: at.getTime(), price: value, end };
      };
      const next = runs[k + 1];
      if (next === undefined) return [point(from, price), point(to, price, true)];
      const isGap = next.from.getTime() > to.getTime();
      return isGap ? [point(from, price), point(to, price), point(to, null)] : [point(from, price)];
    }),
  );
}

/** One price gets some room above and below it; decimals are for cheap things. */
function chooseScale(lowest: number, highest: number): { domain: number[]; format: string } {
  const room = highest > lowest ? 0 : Math.max(0.01, highest / 10);
  return { domain: [lowest - room, highest + room], format: highest - lowest + 2 * room >= 20 ? ',d' : ',.2f' };
}
