import { type Content, html } from '../../formats/html.js';
import type { ReadCell } from '../cells.js';
import type { Answer } from '../question.js';
import type { ShownColumn } from '../table.js';
import { readAll, toNumber } from '../values.js';

const WIDTH = 100;

interface Bounds {
  low: string;
  middle: string;
  high: string;
}

/**
 * Builds a column that draws the middle half of the values as a bar, with the median and an optional reference value.
 * All rows share one scale, and the column sorts by the median.
 */
export function makeRangeColumn(
  answer: Answer,
  { low, middle, high }: Bounds,
  { label, unit = '', reference }: { label: string; unit?: string; reference?: number },
): ShownColumn {
  const all = readAll(answer).flatMap((read) => [low, middle, high].flatMap((name) => toNumber(read(name)) ?? []));
  const drawn = [...all, ...(reference === undefined ? [] : [reference])];
  const [least, most] = [Math.min(...drawn), Math.max(...drawn)];
  const x = (value: number) => (most === least ? WIDTH / 2 : ((value - least) / (most - least)) * WIDTH).toFixed(1);
  const rule = (kind: string, from: number, to = from) =>
    html`<path class="${kind}" d="${from === to ? `M${x(from)} 1V11` : `M${x(from)} 6H${x(to)}`}"/>`;
  return { name: middle, label, show: (_, read) => draw(read) };

  function draw(read: ReadCell): Content {
    const [first, median, last] = [low, middle, high].map((name) => toNumber(read(name) ?? null));
    if (first === undefined || median === undefined || last === undefined) return html`<span class="none">–</span>`;
    const said = `median ${median.toFixed(1)}${unit}, half of all between ${first.toFixed(1)}${unit} and ${last.toFixed(1)}${unit}`;
    return html`<span class="whole"><svg role="img" aria-label="${said}" class="range" viewBox="-2 0 ${WIDTH + 4} 12" preserveAspectRatio="none"><title>${said}</title>${reference === undefined ? '' : rule('reference', reference)}${first === last ? '' : rule('half', first, last)}${rule('median', median)}</svg> ${median.toFixed(1)}${unit}</span>`;
  }
}
