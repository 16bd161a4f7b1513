import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { openIndexWorld } from './index-world.js';

/** Indices that no available package implements, computed from their formulas on the panel of price-index.json. */
const { panel } = JSON.parse(readFileSync(new URL('./price-index.json', import.meta.url), 'utf8')) as {
  panel: Record<'items' | 'months' | 'cents' | 'quantities', number[]>;
};
const sold = panel.items.map((item, k) => {
  const [month = 0, cents = 0, quantity = 0] = [panel.months[k], panel.cents[k], panel.quantities[k]];
  return { item, month, price: cents / 100, turnover: (cents / 100) * quantity };
});
const months = [...new Set(sold.map(({ month }) => month))].sort((a, b) => a - b);
const shopOf = (item: number) => (item % 3) + 1;

const world = await openIndexWorld(
  sold.map(({ item, month, price, turnover }) => [item, month, Math.round(price * 10_000), turnover / price]),
);
const { db } = world;
afterAll(() => db.close());

type Rows = Awaited<ReturnType<typeof world.ask>>;
const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
const monthOf = (row: Rows[number]) => {
  const [year = 0, month = 0] = String(row.period).split('-').map(Number);
  return (year - 2025) * 12 + month - 1;
};

function expectNear(found: unknown, wanted: number, what: string) {
  expect(Math.abs(Number(found) - wanted), `${what}: ${found}, not ${wanted}`).toBeLessThan(
    1e-9 * Math.abs(wanted) + 1e-12,
  );
}

/** A unit in a month, with the index that represents its price, and its weight. */
interface Point {
  unit: string;
  month: number;
  level: number;
  weight: number;
}

const itemPoints: Point[] = sold.map(({ item, month, price, turnover }) => ({
  ...{ unit: `${item}`, month, level: price, weight: turnover },
}));

/** Units with a value in all of these months, each with its values there. */
function findShared(points: readonly Point[], ...at: number[]): Point[][] {
  const units = [...new Set(points.map(({ unit }) => unit))];
  const found = units.map((unit) => at.map((month) => points.find((one) => one.unit === unit && one.month === month)));
  return found.filter((one): one is Point[] => !one.includes(undefined));
}

/** Weights of one of two months or of neither, and what they make of the change since the first month. */
const relate = (points: readonly Point[], month: number, weigh: (first: Point) => number) => {
  const shared = findShared(points, months[0] ?? 0, month) as [Point, Point][];
  return sum(shared.map(([a, b]) => (weigh(a) * b.level) / a.level)) / sum(shared.map(([a]) => weigh(a)));
};

const meanWeight = (points: readonly Point[]) => (one: Point) =>
  mean(points.filter(({ unit }) => unit === one.unit).map(({ weight }) => weight));

function tornqvist(points: readonly Point[], one: number, two: number): number {
  const shared = findShared(points, one, two) as [Point, Point][];
  const share = (nth: 0 | 1) => {
    const whole = sum(shared.map((pair) => pair[nth].weight));
    return sum(shared.map((pair) => (pair[nth].weight / whole) * Math.log(pair[1].level / pair[0].level)));
  };
  return (share(0) + share(1)) / 2;
}

/** The mean of all paths from the first month through each month. */
const geks = (points: readonly Point[], month: number) =>
  Math.exp(mean(months.map((by) => tornqvist(points, by, month) - tornqvist(points, by, months[0] ?? 0))));

test('Young, Laspeyres and their contributions follow their formulas for items, nodes and the whole', async () => {
  await db.run("INSERT INTO tree SELECT DISTINCT item::VARCHAR, 'shop ' || (item % 3 + 1) FROM panel");
  const rows = await world.ask('weighted_index', { price: 'last', by: 'item' });
  const nodes = ['all', 'shop 1', 'shop 2', 'shop 3'];
  expect(rows.map((row) => `${row.node} ${monthOf(row)}`)).toEqual(
    nodes.flatMap((node) => months.map((at) => `${node} ${at}`)),
  );
  const whole = sum(
    [...new Set(itemPoints.map(({ unit }) => unit))].map((unit) => meanWeight(itemPoints)({ unit } as Point)),
  );
  for (const row of rows) {
    const [month, node] = [monthOf(row), String(row.node)];
    const own = itemPoints.filter(({ unit }) => node === 'all' || node === `shop ${shopOf(Number(unit))}`);
    const weigh = meanWeight(own);
    expectNear(row.young, 100 * relate(own, month, weigh), `young of ${node} ${month}`);
    expectNear(row.laspeyres, 100 * relate(own, month, ({ weight }) => weight), `laspeyres of ${node} ${month}`);
    const here = own.filter((one) => one.month === month);
    expectNear(row.covered_pct, (100 * sum(here.map(weigh))) / ((Number(row.weight_pct) * whole) / 100), 'covered');
    if (month === months[0]) continue;
    const moved = (points: readonly Point[]) =>
      findShared(points, months[0] ?? 0, month - 1, month) as [Point, Point, Point][];
    const change = sum(moved(own).map(([a, b, c]) => (weigh(a) * (c.level - b.level)) / a.level));
    const cost = sum(moved(itemPoints).map(([a, b]) => (meanWeight(itemPoints)(a) * b.level) / a.level));
    expectNear(row.contribution, (100 * change) / cost, `contribution of ${node} ${month}`);
  }
  // weights_period selects only the weights of the Young index.
  const [chosen] = (
    await world.ask('weighted_index', { price: 'last', by: 'item', weights_period: '2025-06-01', node: 'all' })
  ).slice(-1);
  const inJune = ({ unit }: Point) => itemPoints.find((one) => one.unit === unit && one.month === 5)?.weight ?? 0;
  expectNear(chosen?.young, 100 * relate(itemPoints, months.at(-1) ?? 0, inJune), 'young by June');
});

test.each(['jevons', 'geks_jevons', 'tpd'])(
  'weights by shop apply to the indices of the shops (elementary=%s)',
  async (elementary) => {
    await db.run(`DELETE FROM tree;
    CREATE OR REPLACE TABLE item_weights AS FROM weights;
    CREATE OR REPLACE TABLE weights AS
      SELECT 'shop' AS kind, (unit::BIGINT % 3 + 1)::VARCHAR AS unit, period, sum(weight)::DECIMAL(28, 10) AS weight
      FROM item_weights GROUP BY ALL`);
    const variables = { price: 'last', by: 'shop', window_periods: '99' };
    const points = (await world.ask('price_index', variables)).map((row) => {
      const [unit, month] = [String(row.site_id), monthOf(row)];
      const own = sold.filter((one) => `${shopOf(one.item)}` === unit && one.month === month);
      return { unit, month, level: Number(row[elementary]), weight: sum(own.map(({ turnover }) => turnover)) };
    });
    const rows = await world.ask('weighted_index', { ...variables, elementary });
    await db.run('CREATE OR REPLACE TABLE weights AS FROM item_weights');
    expect(rows.map(monthOf)).toEqual(months);
    for (const row of rows) {
      const month = monthOf(row);
      expectNear(row.laspeyres, 100 * relate(points, month, ({ weight }) => weight), `laspeyres ${month}`);
      expectNear(row.young, 100 * relate(points, month, meanWeight(points)), `young ${month}`);
      expectNear(row.tornqvist, 100 * Math.exp(tornqvist(points, months[0] ?? 0, month)), `tornqvist ${month}`);
      expectNear(row.geks_tornqvist, 100 * geks(points, month), `geks ${month}`);
    }
  },
);

test('the bootstrap draws products by digests of seed, replicate and draw', async () => {
  const rows = await world.ask('index_interval', {
    by: 'all',
    price: 'last',
    replicates: '60',
    seed: 'x',
    confidence: '80',
  });
  const products = [...new Set(sold.map(({ item }) => `p${item}`))].sort();
  const draw = (replicate: number) =>
    products.map((_, nth) => {
      const digest = createHash('md5')
        .update(`x ${replicate} ${nth + 1}`)
        .digest('hex');
      return products[Number(BigInt(`0x${digest.slice(0, 15)}`) % BigInt(products.length))] ?? '';
    });
  const priced = new Map(sold.map(({ item, month, price }) => [`p${item} ${month}`, Math.log(price)]));
  const levels = (drawn: readonly string[]) => {
    let level = 0;
    return months.map((month, k) => {
      const moves = drawn.flatMap((product) => {
        const [now, before] = [priced.get(`${product} ${month}`), priced.get(`${product} ${months[k - 1]}`)];
        return now === undefined || before === undefined ? [] : [now - before];
      });
      if (k > 0) level += mean(moves);
      return Math.exp(level);
    });
  };
  const drawn = Array.from({ length: 60 }, (_, k) => levels(draw(k + 1)));
  for (const [k, row] of rows.entries()) {
    const values = drawn.map((one) => 100 * (one[k] ?? Number.NaN)).sort((a, b) => a - b);
    const quantile = (part: number) => {
      const at = part * (values.length - 1);
      const [low = 0, high = 0] = [values[Math.floor(at)], values[Math.ceil(at)]];
      return low + (high - low) * (at % 1);
    };
    expectNear(row.jevons, 100 * (levels(products)[k] ?? 0), 'jevons');
    expectNear(
      row.std_error,
      Math.sqrt(sum(values.map((one) => (one - mean(values)) ** 2)) / (values.length - 1)),
      'std_error',
    );
    expectNear(row.lower, quantile(0.1), 'lower');
    expectNear(row.upper, quantile(0.9), 'upper');
  }
});
