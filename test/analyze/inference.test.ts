/** In random worlds, where nothing depends on anything, analyses report no more findings than chance explains. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { insertRows, openEmptyTables } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';

let db: Database;
beforeAll(async () => {
  db = await openEmptyTables();
  await insertRows(db, 'items', [{ item_id: '999999', last_seen_at: "TIMESTAMPTZ '2026-07-06 12:00:00Z'" }]);
});
afterAll(() => db.close());

const random = createSeeded(41);
const normal = () => Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction());
const name = (k: number) => `X${String.fromCharCode(65 + Math.floor(k / 26), 65 + (k % 26))}`;

const CURRENCIES = 60;
const WEEKS = 27;
/** Sundays up to 5 July 2026. */
const sunday = (week: number) =>
  new Date(Date.UTC(2026, 6, 5) - (WEEKS - 1 - week) * 7 * 86_400_000).toISOString().slice(0, 10);

/** Rates and prices that walk apart from each other: all products of a currency share its walk, as in life. */
async function walk(): Promise<void> {
  const rates: [string, string, number][] = [];
  const prices: [number, string, string, string, number][] = [];
  for (let k = 0; k < CURRENCIES; k++) {
    let [rate, level] = [0, 0];
    for (let week = 0; week < WEEKS; week++) {
      rate += 0.01 * normal();
      level += 0.01 * normal();
      rates.push([sunday(week), name(k), 4 * Math.exp(rate)]);
      for (let n = 0; n < 6; n++) {
        const price = 100 * Math.exp(level + 0.02 * normal());
        prices.push(
          [k * 100 + n, `p${k}-${n}`, name(k), sunday(week), price],
          [k * 100 + 50 + n, `p${k}-${n}`, 'EUR', sunday(week), 100],
        );
      }
    }
  }
  const rows = (values: unknown[]) => JSON.stringify(values);
  await db.run(
    `CREATE OR REPLACE TABLE rates AS SELECT (v->>0)::DATE AS date, v->>1 AS currency, round((v->>2)::DOUBLE, 10)::DECIMAL(28, 10) AS rate
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [rows(rates)],
  );
  await db.run(
    `CREATE OR REPLACE TABLE price_spells AS SELECT (v->>0)::BIGINT AS item_id, v->>1 AS product_id, 1::BIGINT AS site_id, v->>2 AS currency,
       round((v->>4)::DOUBLE, 4)::DECIMAL(18, 4) AS price, (v->>3)::DATE AS from_day, (v->>3)::DATE + 7 AS to_day,
       from_day::TIMESTAMP AT TIME ZONE 'UTC' AS from_at, to_day::TIMESTAMP AT TIME ZONE 'UTC' AS to_at, false AS is_suspect, 'c' AS category_slug
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [rows(prices)],
  );
}

/** Student's t for 4 degrees of freedom, two-sided at 5 percent. */
const T4 = 2.776;

test('an exchange rate without any pass-through appears significant in about one of twenty currencies', async () => {
  await setVariables(db, { base: 'EUR', weeks: '26', pass_weeks: '4', min_products: '1' });
  const ratios: number[] = [];
  for (let batch = 0; batch < 5; batch++) {
    await walk();
    for (const row of await db.rows(readAnalysis('law_of_one_price'))) {
      expect(Number(row.pass_windows)).toBe(6);
      ratios.push(Number(row.pass_through) / Number(row.pass_through_error));
    }
  }
  expect(ratios).toHaveLength(5 * CURRENCIES);
  const found = ratios.filter((ratio) => Math.abs(ratio) > T4).length / ratios.length;
  expect(found).toBeGreaterThan(0.02);
  expect(found).toBeLessThan(0.09);
});

const SHOPS = 9;
const HOURS = 60 * 24;

/** Moves at random hours. Shop 9 follows each move of shop 1 within a day. */
async function move(): Promise<void> {
  const moves: [product: number, site: number, hour: number, isUp: boolean][] = [];
  for (let product = 0; product < 30; product++) {
    for (let site = 1; site < SHOPS; site++) {
      for (let n = 0; n < 8; n++) {
        const hour = random.fraction() * HOURS;
        const isUp = random.integer(2) === 0;
        moves.push([product, site, hour, isUp]);
        if (site === 1) moves.push([product, SHOPS, Math.min(hour + 1 + random.fraction() * 23, HOURS), isUp]);
      }
    }
  }
  await db.run(`INSERT INTO items BY NAME SELECT product * 100 + site AS item_id, 'm' || product AS product_id, site AS site_id, 10 AS price,
    'EUR' AS currency, true AS is_listed, 'r' AS run_id FROM range(30) t(product), range(1, ${SHOPS + 1}) u(site)`);
  await db.run(
    `INSERT INTO history BY NAME SELECT row_number() OVER () AS change_id, (v->>0)::BIGINT * 100 + (v->>1)::BIGINT AS item_id, 'CHANGED' AS kind,
       make_timestamptz(1767225600000000 + round((v->>2)::DOUBLE * 3600000000)::BIGINT) AS observed_at, 10 AS previous_price,
       CASE WHEN (v->>3)::BOOLEAN THEN 11 ELSE 9 END AS price, 'EUR' AS currency, 'feed' AS origin, 'r' AS run_id
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(moves)],
  );
}

test('randomly moving shops have no price leader, and a shop that follows another is found', async () => {
  await move();
  await setVariables(db, { hours: '24', min_follows: '0', top: '1000' });
  const rows = await db.rows(readAnalysis('price_leaders'));
  const z = (leader: number, follower: number) =>
    Number(
      rows.find((row) => row.leader_site_id === BigInt(leader) && row.follower_site_id === BigInt(follower))?.chance_z,
    );
  expect(z(1, SHOPS)).toBeGreaterThan(20);
  const apart = rows.filter((row) => ![row.leader_site_id, row.follower_site_id].includes(BigInt(SHOPS)));
  expect(apart).toHaveLength((SHOPS - 1) * (SHOPS - 2));
  const values = apart.map((row) => Number(row.chance_z));
  expect(Math.abs(values.reduce((sum, one) => sum + one, 0) / values.length)).toBeLessThan(0.5);
  expect(values.filter((value) => Math.abs(value) > 2).length / values.length).toBeLessThan(0.12);
});

test('a bootstrap interval contains the true index in about 19 of 20 cases', async () => {
  // 150 categories of 40 products each, whose prices move at random; the true mean change is zero.
  const rows: [number, string, number, number][] = [];
  for (let category = 0; category < 150; category++) {
    for (let product = 0; product < 40; product++) {
      rows.push([category * 40 + product, `c${category}`, 100, 100 * Math.exp(0.1 * normal())]);
    }
  }
  await db.run(
    `CREATE OR REPLACE TABLE price_spells AS SELECT (v->>0)::BIGINT AS item_id, 'b' || (v->>0) AS product_id, 1::BIGINT AS site_id, 'EUR' AS currency,
       round((v->>month)::DOUBLE, 4)::DECIMAL(18, 4) AS price, make_date(2026, month, 1) AS from_day, make_date(2026, month + 1, 1) AS to_day,
       from_day::TIMESTAMP AT TIME ZONE 'UTC' AS from_at, to_day::TIMESTAMP AT TIME ZONE 'UTC' AS to_at, false AS is_suspect, v->>1 AS category_slug,
       'UTC' AS time_zone
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v), (SELECT unnest([2, 3]) AS month)`,
    [JSON.stringify(rows)],
  );
  await setVariables(db, { until: '2026-03-31', category: null });
  const found = (await db.rows(readAnalysis('index_interval'))).filter(({ period }) => String(period) === '2026-03-01');
  expect(found).toHaveLength(150);
  const held = found.filter((row) => Number(row.lower) <= 100 && Number(row.upper) >= 100).length / found.length;
  expect(held).toBeGreaterThan(0.88);
  expect(held).toBeLessThan(0.99);
  // The error of the mean of 40 products, each with a deviation of 0.1.
  const mean = found.reduce((sum, row) => sum + Number(row.std_error), 0) / found.length;
  expect(mean).toBeGreaterThan((100 * 0.1 * 0.9) / Math.sqrt(40));
  expect(mean).toBeLessThan((100 * 0.1 * 1.1) / Math.sqrt(40));
});
