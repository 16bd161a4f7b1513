import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSpellsView, listAnalyses, setVariables } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/analyze/variables.js';
import type { Database } from '../../src/sql/connection.js';
import { createMacros, readAnalysis } from '../../src/sql/model.js';
import { insertRows, openEmptyTables } from '../check/lake-world.js';

let db: Database;
beforeAll(async () => {
  db = await openEmptyTables();
  await createMacros(db);
  await createSpellsView(db);
  await db.run(`CREATE TABLE rates (date DATE, currency VARCHAR, rate DECIMAL(28, 10));
    CREATE TABLE weights (kind VARCHAR, unit VARCHAR, period DATE, weight DECIMAL(28, 10));
    CREATE TABLE tree (child VARCHAR, parent VARCHAR)`);
});
afterAll(() => db.close());

/** A run reads it to make price_spread_daily, and its first line says UTC. */
const OF_RUNS = ['offer_prices'];

async function ask(name: string, set: Record<string, string> = {}) {
  await setVariables(db, { ...Object.fromEntries(readVariables(name).map((one) => [one.name, null])), ...set });
  return db.rows(readAnalysis(name));
}

test('every analysis with a day in its result or its variables reports its time zone', async () => {
  const silent: string[] = [];
  let dated = 0;
  for (const name of listAnalyses().filter((one) => !OF_RUNS.includes(one))) {
    const variables = readVariables(name);
    await setVariables(db, Object.fromEntries(variables.map((one) => [one.name, null])));
    const columns = await db.rows(`DESCRIBE ${readAnalysis(name)}`);
    const isDated = variables.some(({ kind }) => kind === 'day') || columns.some((one) => one.column_type === 'DATE');
    if (isDated) dated++;
    if (isDated && !columns.some((one) => one.column_name === 'time_zone')) silent.push(name);
  }
  expect(silent).toEqual([]);
  expect(dated).toBeGreaterThan(10);
});

test('days begin at local midnight, in zones with half-hour offsets and when clocks change', async () => {
  // A cut and its return in each shop; the second has a time zone of its own.
  const moves = (item: number, told: readonly (readonly [at: string, kind: string, price: string, before: string])[]) =>
    insertRows(
      db,
      'history',
      told.map(([at, kind, price, before], k) => ({
        ...{ change_id: String(item * 10 + k), item_id: String(item), site_id: String(item), kind: `'${kind}'` },
        ...{ observed_at: `TIMESTAMPTZ '${at}'`, observed_date: `DATE '${at.slice(0, 10)}'`, currency: "'EUR'" },
        ...{ price, previous_price: before },
      })),
    );
  for (const [item, cut, back] of [
    // Kathmandu is 5:45 ahead: cut on 2 March, 00:15 there.
    [1, '2026-03-01 18:30:00Z', '2026-03-05 18:30:00Z'],
    // Zagreb's clocks go forward on 29 March: cut on 30 March, 00:30 there.
    [2, '2026-03-29 22:30:00Z', '2026-03-31 10:00:00Z'],
  ] as const) {
    await insertRows(db, 'items', [
      {
        ...{
          item_id: String(item),
          site_id: String(item),
          product_id: "'p'",
          gtin: 'NULL',
          gtin14: 'NULL',
          price: '10',
        },
        ...{ first_seen_at: "TIMESTAMPTZ '2026-02-01 00:00:00Z'", last_seen_at: "TIMESTAMPTZ '2026-04-30 12:00:00Z'" },
      },
    ]);
    await moves(item, [
      ['2026-02-01 00:00:00Z', 'NEW', '10', 'NULL'],
      [cut, 'CHANGED', '8', '10'],
      [back, 'CHANGED', '10', '8'],
    ]);
  }
  await insertRows(db, 'sites', [{ name: "'Alpha'" }, { site_id: '2', name: "'Beta'" }]);
  await insertRows(db, 'offer_rules', [
    { rule: "'time zone'", site_id: 'NULL', meaning: "'shop'", text: "'Asia/Kathmandu'", run_id: "'r'" },
    { rule: "'time zone'", site_id: '2', meaning: "'shop'", text: "'Europe/Zagreb'", run_id: "'r'" },
  ]);
  const cuts = async (name: string, set: Record<string, string>) =>
    (await ask(name, set)).map((row) => [row.site_id, row.cuts ?? row.decreases ?? row.cut_pct, row.time_zone]);
  const zones = ['Asia/Kathmandu', 'Europe/Zagreb'];
  for (const [day, own] of [
    ['2026-03-01', [0n, 0n]],
    ['2026-03-02', [1n, 0n]],
    ['2026-03-29', [0n, 0n]],
    ['2026-03-30', [0n, 1n]],
  ] as const) {
    const rows = zones.map((zone, k) => [BigInt(k + 1), own[k], zone]);
    expect((await cuts('sales', { since: day, until: day })).sort()).toEqual(rows);
    expect((await cuts('dynamics', { since: day, until: day, by: 'shop' })).sort()).toEqual(rows);
    const found = await ask('prior_price', { since: day, until: day });
    expect(found.map((row) => row.time_zone)).toEqual(zones.filter((_, k) => own[k] === 1n));
  }
  // Three days of 71 hours.
  const sold = await ask('sales', { since: '2026-03-29', until: '2026-03-31' });
  expect(sold.find(({ site_id }) => site_id === 2n)?.on_sale_pct).toBeCloseTo((100 * 35.5) / 71, 9);
  const [whole] = await ask('dynamics', { by: 'category', since: '2026-03-01', until: '2026-03-31' });
  expect(whole?.time_zone).toBe('Asia/Kathmandu, Europe/Zagreb');
  const days = async (set = {}) =>
    (await ask('changes_by_day', set)).map(({ day, time_zone }) => `${day} ${time_zone}`);
  expect(await days({ time_zone: 'UTC' })).toEqual(
    ['2026-02-01', '2026-03-01', '2026-03-05', '2026-03-29', '2026-03-31'].map((day) => `${day} UTC`),
  );
  expect(await days()).toEqual(
    ['2026-02-01', '2026-03-02', '2026-03-06', '2026-03-30', '2026-03-31'].map((day) => `${day} ${zones.join(', ')}`),
  );
  const [lives] = await ask('assortment', { site_id: '2', weeks: '20' });
  expect(lives?.time_zone).toBe('Europe/Zagreb');
});
