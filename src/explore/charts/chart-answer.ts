import { DuckDBDateValue } from '@duckdb/node-api';
import { formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { foreign, shortenNames } from '../format.js';
import type { Answer } from '../question.js';
import { type ReadValue, readAll, toBigInt, toDate, toNumber, toText } from '../values.js';
import { changesChart, KINDS } from './changes.js';
import { drawChart } from './draw-chart.js';
import { type Line, type LinesOptions, linesChart, MOST_LINES } from './lines.js';
import { type Range, rangesChart } from './ranges.js';
import { histogramChart, spreadDaysChart } from './spreads.js';

/** The maximum number of rows in a range chart. */
const MOST_RANGES = 12;
const LEGEND_NAME = 40;

type Draw = (rows: readonly ReadValue[], categories: ReadonlyMap<string, string>) => Promise<Html> | undefined;

/**
 * For each analysis that has a chart, the chart's title and the function that draws the rows. The function returns
 * undefined if there is nothing to draw.
 */
const CHARTS: Readonly<Record<string, [title: string, draw: Draw]>> = {
  spread_histogram: ['Products by spread', drawHistogram],
  spread_by_day: ['Spread by day: median and middle 50 %', drawSpreadDays],
  spread_by_category: ['Spread by category, in %', drawCategories],
  shop_index_by_category: ['Price index of shops: median and middle 50 %', drawShops],
  changes_by_day: ['Changes a day', drawChanges],
  price_index: ['Price index, GEKS-Jevons', drawIndex],
  listing_lifetimes: ['Share of listings that are still listed', drawLifetimes],
  persistence: ['Correlation of ranks', drawPersistence],
};

export const hasChart = (analysis: string): boolean => analysis in CHARTS;

/** Draws the chart of an analysis. Returns empty content if the answer has no rows or is truncated. */
export async function chartAnswer(
  analysis: string,
  answer: Answer,
  categories: ReadonlyMap<string, string> = new Map(),
): Promise<Content> {
  const [title, draw] = CHARTS[analysis] ?? [];
  const drawn = answer.rows.length === 0 || answer.hasMore ? undefined : await draw?.(readAll(answer), categories);
  if (drawn === undefined) return '';
  return html`<figure class="chart"><figcaption>${title}${nameZones(answer)}</figcaption>${drawn}</figure>`;
}

/** Renders the time zones in which the rows' days are counted; empty if rows have no `time_zone`. */
function nameZones(answer: Answer): Content {
  const at = answer.columns.findIndex(({ name }) => name === 'time_zone');
  const zones = new Set(at < 0 ? [] : answer.rows.map((row) => String(row[at])));
  return zones.size === 0 ? '' : html` (days of ${foreign([...zones].join(', '))})`;
}

function drawHistogram(rows: readonly ReadValue[]): Promise<Html> {
  const steps = rows.map((read) => ({
    from_pct: toNumber(read('from_pct')) ?? 0,
    up_to_pct: toNumber(read('up_to_pct')) ?? null,
    spreads: toBigInt(read('spreads')),
  }));
  return drawChart(histogramChart(steps));
}

function drawSpreadDays(rows: readonly ReadValue[]): Promise<Html> | undefined {
  if (rows.length < 2) return undefined;
  const days = rows.map((read) => {
    const [p25 = 0, median = 0, p75 = 0] = ['p25', 'median', 'p75'].map((name) => toNumber(read(name)));
    return { day: toDay(read), p25, median, p75 };
  });
  return drawChart(spreadDaysChart(days));
}

const toDay = (read: ReadValue): string => {
  const day = read('day');
  return day instanceof DuckDBDateValue ? day.toString() : '';
};

function drawCategories(rows: readonly ReadValue[]): Promise<Html> | undefined {
  const most = [...rows].sort((a, b) => Number(toBigInt(b('spreads')) - toBigInt(a('spreads')))).slice(0, MOST_RANGES);
  const ranges = toRanges(most, ['p25', 'median', 'p75'], (read) =>
    String(read('category_name') ?? read('category_slug') ?? 'none'),
  );
  if (ranges.length === 0) return undefined;
  const label = `Median spread of ${ranges.length} categories, those with the most products, with the range of the middle 50 %. The table has the figures.`;
  return drawChart(rangesChart(ranges, { label, axisTitle: 'spread in %' }));
}

function drawShops(rows: readonly ReadValue[]): Promise<Html> | undefined {
  const whole = rows.filter((read) => read('category_slug') === null).slice(0, MOST_RANGES);
  const ranges = toRanges(whole, ['index_p25', 'index_median', 'index_p75'], (read) =>
    String(read('shop') ?? read('site_id')),
  );
  if (ranges.length === 0) return undefined;
  const label = `Median price index of ${ranges.length} shops with the range of the middle 50 % of their products; 100 is the median of each product. The table has the figures.`;
  return drawChart(rangesChart(ranges, { label, axisTitle: 'price index', reference: 100 }));
}

/** Converts rows to ranges, sorted by median in descending order. Skips rows with a missing value. */
function toRanges(
  rows: readonly ReadValue[],
  [lowest, middle, highest]: readonly [string, string, string],
  nameOf: (read: ReadValue) => string,
): Range[] {
  const ranges = rows.flatMap((read) => {
    const [low, mid, high] = [lowest, middle, highest].map((name) => toNumber(read(name)));
    if (low === undefined || mid === undefined || high === undefined) return [];
    return [{ name: nameOf(read), low, middle: mid, high }];
  });
  return ranges.sort((a, b) => b.middle - a.middle);
}

async function drawChanges(rows: readonly ReadValue[]): Promise<Html> {
  const days = rows.map((read) => ({
    day: toDay(read),
    kind: String(read('kind')),
    changes: toBigInt(read('changes')),
  }));
  const sums = KINDS.map(({ kind, name }) => {
    const sum = days.reduce((total, day) => (day.kind === kind ? total + day.changes : total), 0n);
    return html`<li class="key-${kind.toLowerCase()}">${formatCount(sum)} ${name}</li>\n`;
  });
  return html`${await drawChart(changesChart(days))}<ul class="legend">${sums}</ul>`;
}

function drawIndex(rows: readonly ReadValue[], categories: ReadonlyMap<string, string>): Promise<Html> | undefined {
  const nameOf = (read: ReadValue) => {
    const slug = toText(read('category_slug'));
    const category = slug === undefined ? null : (categories.get(slug) ?? slug);
    return [category, read('shop'), read('currency')].filter((part) => part !== null).join(', ');
  };
  return drawLines(rows, 'period', 'geks_jevons', nameOf, { x: 'period', y: 'the index', reference: 100 });
}

function drawLifetimes(rows: readonly ReadValue[]): Promise<Html> | undefined {
  const axes = { x: 'age in days', y: 'the share that is still listed' };
  return drawLines(rows, 'age_days', 'survival', () => 'survival', axes);
}

function drawPersistence(rows: readonly ReadValue[]): Promise<Html> | undefined {
  const axes = { x: 'days later', y: "the correlation of shops' ranks" };
  return drawLines(rows, 'lag', 'rank_correlation', () => 'correlation', axes);
}

function drawLines(
  rows: readonly ReadValue[],
  x: string,
  y: string,
  nameOf: (read: ReadValue) => string,
  options: LinesOptions,
): Promise<Html> | undefined {
  const lines = new Map<string, Line>();
  for (const read of rows) {
    const [at, value] = [toDate(read(x)) ?? toNumber(read(x)), toNumber(read(y))];
    if (at === undefined || value === undefined) continue;
    const name = nameOf(read);
    const line = lines.get(name) ?? { name, points: [] };
    line.points.push({ x: at, y: value });
    lines.set(name, line);
  }
  const drawable = [...lines.values()].filter(({ points }) => points.length > 1);
  return drawable.length === 0 ? undefined : drawWithLegend(drawable, options);
}

async function drawWithLegend(lines: readonly Line[], options: LinesOptions): Promise<Html> {
  const chart = await drawChart(linesChart(lines, options));
  if (lines.length === 1) return chart;
  const names = shortenNames(
    lines.slice(0, MOST_LINES).map(({ name }) => name),
    LEGEND_NAME,
  );
  const left = lines.length - names.length;
  const keys = names.map((name, k) => html`<li class="line-${k + 1}">${foreign(name, LEGEND_NAME)}</li>\n`);
  return html`${chart}<ul class="legend">${keys}</ul>${left > 0 ? html`<p class="legend">${left} more are not drawn; choose some by the variables.</p>` : ''}`;
}
