import { describe, expect, it } from 'vitest';
import { changesChart } from '../../src/explore/charts/changes.js';
import { type Chart, drawChart } from '../../src/explore/charts/draw-chart.js';
import { linesChart } from '../../src/explore/charts/lines.js';
import { drawPriceLines } from '../../src/explore/charts/price-lines.js';
import { rangesChart } from '../../src/explore/charts/ranges.js';
import { histogramChart, spreadDaysChart } from '../../src/explore/charts/spreads.js';
import { HOSTILE } from './explored.js';

const DAY = 86_400_000;
const at = (day: number) => new Date(Date.UTC(2026, 9, 1) + day * DAY);
/** Draws a chart, and fails if Vega warns about it. */
const draw = async (chart: Chart) =>
  (
    await drawChart(chart, (warning) => {
      throw new Error(warning);
    })
  ).text;
const labels = { label: 'A label', axisTitle: 'an axis' };

/** Numbers of the path data of marks filled or drawn in a color. */
const shapes = (svg: string, color: string) =>
  [...svg.matchAll(/ d="([^"]*)"[^>]*?(?:fill|stroke)="var\(--([\w-]+)\)"/g)]
    .filter(([, , name]) => name === color)
    .map(([, path]) => path);

describe('a chart', () => {
  const steps = [0, 100].map((from_pct) => ({ from_pct, up_to_pct: from_pct === 0 ? 5 : null, spreads: 7n }));
  const days = [19, 20].map((day) => ({ day: `2026-11-${day}`, spreads: 7n, p25: day - 18, median: 2, p75: 3 }));

  it.each([
    ['histogram', histogramChart(steps)],
    ['days', spreadDaysChart(days)],
    ['changes', changesChart([{ day: '2026-11-20', kind: 'NEW', changes: 3n }])],
    ['ranges', rangesChart([{ name: HOSTILE, low: 1, middle: 2, high: 3 }], labels)],
    [
      'lines',
      linesChart(
        [
          {
            name: HOSTILE,
            points: [
              { x: at(1), y: 1 },
              { x: at(2), y: 2 },
            ],
          },
        ],
        { x: 'day', y: 'an index', reference: 100 },
      ),
    ],
  ])('of %s is one labeled picture without styles, ids, scripts or addresses', async (_, chart) => {
    const text = await draw(chart);
    expect(text).toMatch(/^<svg role="img" aria-label="[^"<>]+" viewBox="0 0 372 \d+">/);
    // Checks only names of tags and attributes, because attribute values are text.
    const names = text.replace(/="[^"]*"/g, '=');
    expect(names).not.toMatch(/ (?:id|style|href|xlink:href|on\w+)=|<(?:script|image|a|use|style|foreignObject)\b/i);
    expect(text).not.toContain('url(');
    expect(text).not.toMatch(/NaN|undefined|\u202e/);
    expect(text).not.toMatch(/#[0-9a-f]{3,6}"|"(?:black|white)"/i);
  });

  it('shows the names in the data as text, and never evaluates them as expressions', async () => {
    const names = ["datum['x']", '{"signal": "width"}', 'a.b[0]', '</text><script>', '\\', '"', 'alert`1`'];
    const ranges = names.map((name) => ({ name, low: 1, middle: 2, high: 3 }));
    const text = await draw(rangesChart(ranges, labels));
    const drawn = [...text.matchAll(/<text[^>]*font-size="12px"[^>]*>([^<]*)</g)].map(([, name]) => name);
    expect(drawn).toEqual(names.map((name) => (name.startsWith('<') ? '&lt;/text&gt;&lt;script&gt;' : name)));
  });

  it('keeps rows with the same name separate', async () => {
    const shop = { name: 'Shop', low: 1, middle: 2, high: 3 };
    const text = await draw(rangesChart([shop, shop, shop], labels));
    expect(shapes(text, 'ink')).toHaveLength(3);
  });

  it('is the same in every time zone', async () => {
    const zone = process.env.TZ;
    const chart = changesChart([
      { day: '2026-11-01', kind: 'NEW', changes: 3n },
      { day: '2026-11-20', kind: 'NEW', changes: 3n },
    ]);
    const texts: string[] = [];
    for (const TZ of ['UTC', 'America/Los_Angeles', 'Pacific/Auckland']) {
      process.env.TZ = TZ;
      texts.push(await draw(chart));
    }
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    expect(new Set(texts).size).toBe(1);
  });

  it('stacks the kinds of changes of a day', () => {
    const day = '2026-11-20';
    const two = [
      { day, kind: 'CHANGED', changes: 5n },
      { day, kind: 'REMOVED', changes: 2n },
    ];
    expect(changesChart(two).values).toMatchObject([
      { low: 0, high: 5 },
      { low: 5, high: 7 },
    ]);
  });
});

describe('a chart of price lines', () => {
  const steps = [
    { from: at(1), to: at(2), price: 11, text: '11.0000' },
    { from: at(2), to: at(3), price: 10, text: '10.0000' },
    { from: at(5), to: at(9), price: 12, text: '12.0000' },
  ];
  const drawLines = (lines: { name: string; steps: typeof steps }[], own?: string) => {
    const shown = lines.map((line) => ({ ...line, isAside: false }));
    return drawPriceLines({ lines: shown, from: at(0), to: at(9), currency: 'EUR', own, isPast: false, label: HOSTILE })
      .text;
  };
  const between = (low: number, high: number) =>
    [low, high].map((price) => ({ name: 'x', steps: [{ from: at(0), to: at(9), price, text: String(price) }] }));
  const readTicks = (text: string) => {
    const [, scale = ''] = /class="scale"[^>]*>(.*?)<\/div>/u.exec(text) ?? [];
    return [...scale.matchAll(/<span>([\d.]+)/g)].map(([, tick]) => Number(tick));
  };

  it('steps from price to price, and has gaps while a shop has no offer', () => {
    const [, line = ''] = /class="price line-1" d="([^"]*)"/.exec(drawLines([{ name: 'Alpha', steps }])) ?? [];
    expect(line.match(/M/g)).toHaveLength(2);
    expect(line.match(/V/g)).toHaveLength(1);
  });

  it('names eight shops with their prices, draws the others faintly, and writes names only as text', () => {
    const lines = Array.from({ length: 12 }, (_, k) => ({ name: k === 3 ? HOSTILE : `Shop ${k}`, steps }));
    const text = drawLines(lines);
    expect(text.match(/<li class="line-\d">/g)).toHaveLength(8);
    expect(text).toContain('<li class="line-rest">4 more</li>');
    expect(text.match(/class="price line-rest"/g)).toHaveLength(4);
    expect(text).toContain('<bdi>Shop 0</bdi> <span class="money">12.00</span>');
    expect(text).not.toMatch(/<script|NaN|undefined|style=|\u202e/);
  });

  it('contains every price for the script, as exact text', () => {
    const [, held = ''] = /data-prices="([^"]*)"/.exec(drawLines([{ name: HOSTILE, steps }], '99.5000')) ?? [];
    const told = JSON.parse(held.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'));
    expect(told.lines.map((line: { key: string }) => line.key)).toEqual(['line-1', 'own']);
    expect(told.lines[0].steps.map(([, , price]: [number, number, string]) => price)).toEqual([
      '11.00',
      '10.00',
      '12.00',
    ]);
  });

  it('draws the reader’s own price across the chart, within the scale', () => {
    const text = drawLines([{ name: 'Alpha', steps }], '20');
    expect(text).toMatch(/<path class="own" d="M0 [\d.]+H1000"/u);
    expect(text).toContain('<li class="own">Your price <span class="money">20.00</span></li>');
    expect(readTicks(text)[0]).toBeGreaterThanOrEqual(20);
  });

  it.each([
    [3, 3],
    [0.05, 0.07],
    [19.99, 1843],
  ])('has round ticks below %d and above %d', (low, high) => {
    const ticks = readTicks(drawLines(between(low, high)));
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.at(-1)).toBeLessThanOrEqual(low);
    expect(ticks[0]).toBeGreaterThanOrEqual(high);
  });

  it.each([
    [10, 20, 0],
    [10, 19, 10],
  ])('starts at zero if the highest price is twice the lowest: %d to %d', (low, high, first) => {
    expect(readTicks(drawLines(between(low, high))).at(-1)).toBe(first);
  });
});
