import { describe, expect, it } from 'vitest';
import { drawPriceChart } from '../../src/cli/output/price-chart.js';
import { chooseStyle, PLAIN } from '../../src/cli/style.js';

const labels = { first: '2026-11-01', last: '2026-11-20' };
const plain = { labels, width: 32, style: PLAIN };

describe('a chart of prices', () => {
  it('shows lowest to highest as a band, the median as a line, and days without prices as gaps', () => {
    const days = Array.from({ length: 20 }, (_, i) =>
      i === 5 ? undefined : i < 10 ? { min: 1, median: 3, max: 8 } : { min: 2, median: 2, max: 2 },
    );
    expect(drawPriceChart(days, plain).split('\n')).toEqual([
      '8.00 ┤░░░░░ ░░░░',
      '     ┤░░░░░ ░░░░',
      '     ┤░░░░░ ░░░░',
      '     ┤░░░░░ ░░░░',
      '     ┤░░░░░ ░░░░',
      '     ┤━━━━━ ━━━━',
      '     ┤░░░░░ ░░░░━━━━━━━━━━',
      '1.00 ┤░░░░░ ░░░░',
      '     └────────────────────',
      '      2026-11-20',
      '',
    ]);
  });

  it('fits the width by merging adjacent days, with their lowest and highest price', () => {
    const days = Array.from({ length: 90 }, (_, i) => ({ min: i === 4 ? 1 : 5, median: 5, max: 8 }));
    const lines = drawPriceChart(days, { ...plain, width: 40 }).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines[7]).toBe('1.00 ┤ ░');
    expect(lines[9]).toMatch(/^ {6}2026-11-01 +2026-11-20$/u);
  });

  it('uses a logarithmic scale if prices differ widely', () => {
    const days = [1, 10, 100].map((price) => ({ min: price, median: price, max: price }));
    const rows = drawPriceChart(days, plain).split('\n');
    expect([0, 4, 7].map((row) => rows[row]?.includes('━'))).toEqual([true, true, true]);
  });

  it('draws a price that never changed, and nothing if there is no price', () => {
    expect(drawPriceChart([{ min: 3, median: 3, max: 3 }], plain)).toContain('━');
    expect(drawPriceChart([undefined], plain)).toBe('');
  });

  it("uses the terminal's colors", () => {
    const style = chooseStyle({}, { color: true, env: {} });
    expect(drawPriceChart([{ min: 1, median: 2, max: 3 }], { ...plain, style })).toContain('\u001b[2m░\u001b[22m');
  });
});
