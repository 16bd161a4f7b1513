import { countOf, formatCount } from '../../formats/count.js';
import { type Html, html } from '../../formats/html.js';
import { formatDay } from '../format.js';
import type { Answer } from '../question.js';
import { readAll, toBigInt, toDate } from '../values.js';

const DAYS = 30;
const DAY_MS = 86_400_000;
const SLOT = 20;
const HEIGHT = 100;

/** Draws price rises per day as bars above a line, and falls as bars below it; undefined if there are no days. */
export function drawMoves(answer: Answer): Html | undefined {
  const days = readAll(answer).flatMap((read) => {
    const at = toDate(read('day'));
    return at === undefined
      ? []
      : [{ at, falls: Number(toBigInt(read('falls'))), rises: Number(toBigInt(read('rises'))) }];
  });
  const last = days.at(-1)?.at;
  if (last === undefined) return undefined;
  const first = new Date(last.getTime() - (DAYS - 1) * DAY_MS);
  const most = (of: 'falls' | 'rises') => Math.max(...days.map((day) => day[of]));
  const [falls, rises] = [most('falls'), most('rises')];
  const scale = HEIGHT / Math.max(1, falls + rises);
  const zero = round(rises * scale);
  const bars = days.map(({ at, falls: down, rises: up }) => {
    const x = ((at.getTime() - first.getTime()) / DAY_MS) * SLOT + 3;
    const bar = (kind: string, y: number, height: number) =>
      height === 0
        ? ''
        : html`<rect class="${kind}" x="${round(x)}" y="${round(y)}" width="${SLOT - 6}" height="${round(height)}"/>`;
    return html`<g><title>${formatDay(at)}: ${countOf(down, 'fall')}, ${countOf(up, 'rise')}</title>${bar('rise', zero - up * scale, up * scale)}${bar('fall', zero, down * scale)}</g>`;
  });
  const sum = (of: 'falls' | 'rises') => days.reduce((all, day) => all + day[of], 0);
  const summary = `${countOf(sum('falls'), 'fall')} and ${countOf(sum('rises'), 'rise')} of prices in ${DAYS} days`;
  return html`<figure class="chart moves"><div class="plot">
<div class="scale" aria-hidden="true"><span>${formatCount(rises)}</span><span>${formatCount(falls)}</span></div>
<svg role="img" aria-label="${summary}" class="lines" viewBox="0 0 ${DAYS * SLOT} ${HEIGHT}" preserveAspectRatio="none">${bars}<path d="M0 ${zero}H${DAYS * SLOT}" stroke="var(--faint)"/></svg>
<div class="days" aria-hidden="true"><span>${formatDay(first)}</span><span>${formatDay(last)}</span></div></div>
<ul class="legend"><li class="key-fall">${formatCount(sum('falls'))} falls</li><li class="key-rise">${formatCount(sum('rises'))} rises in ${DAYS} days, by day of each shop’s time zone</li></ul></figure>`;
}

const round = (value: number) => Math.round(value * 10) / 10;
