import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros, readModel } from '../../src/sql/model.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
  await createMacros(db);
  await db.run("SET VARIABLE run_id = 'this run'");
});
afterAll(() => db.close());

const LANDED = {
  part: 1,
  line_number: 2,
  raw: '{}',
  id: '9007199254740993',
  item_id: '7',
  kind: 'CHANGED',
  observed_at: '2026-11-20T06:00:00.000001Z',
  price: '12.5',
  previous_price: '13',
  currency: 'EUR',
  changes: '{}',
  title: 'A',
  url: 'u',
  site_id: '3',
  site_name: 'Shop',
  site_host: 'shop.example',
  site_attribution: 'CC BY',
};

/** The typed row of a landed change, as texts. */
async function typeChange(values: Partial<Record<keyof typeof LANDED, string | null>> = {}) {
  const row = { ...LANDED, ...values };
  const columns = Object.keys(row).map((name, n) => `$${n + 1}::VARCHAR AS ${name}`);
  await db.run(
    `CREATE OR REPLACE TABLE landed_changes AS SELECT ${columns.join(', ')}`,
    Object.values(row).map((value) => (value === null ? null : String(value))),
  );
  return db.row(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${readModel('history')})`);
}
const reasonOf = async (values: Parameters<typeof typeChange>[0]) => (await typeChange(values))?.reject_reason;

test('a landed change is typed exactly, and is of the feed unless another origin is told', async () => {
  const typed = {
    change_id: '9007199254740993',
    item_id: '7',
    observed_at: '2026-11-20 06:00:00.000001+00',
    observed_date: '2026-11-20',
    price: '12.5000',
    previous_price: '13.0000',
    site_id: '3',
    origin: 'feed',
    run_id: 'this run',
    reject_reason: null,
  };
  expect(await typeChange()).toMatchObject(typed);
  await db.run("SET VARIABLE origin = 'webhook'");
  expect(await typeChange()).toMatchObject({ ...typed, origin: 'webhook' });
  await db.run('RESET VARIABLE origin');
});

test('a kind that the document does not name is kept', async () => {
  expect(await typeChange({ kind: 'GONE' })).toMatchObject({ kind: 'GONE', reject_reason: null });
});

test('a change may lack what only some changes have', async () => {
  const values = { item_id: null, price: null, previous_price: null, site_id: null };
  expect(await typeChange(values)).toMatchObject({ ...values, reject_reason: null });
});

test.each([
  [{ id: null }, 'id null is not an int64'],
  [{ id: '1.5' }, 'id "1.5" is not an int64'],
  [{ kind: null }, 'kind is missing'],
  [{ observed_at: null }, 'observedAt null is not a date-time of the years 1 to 9999'],
  [{ observed_at: 'soon' }, 'observedAt "soon" is not a date-time of the years 1 to 9999'],
  [{ price: '1.00001' }, 'price "1.00001" does not fit DECIMAL(18,4)'],
  [{ previous_price: 'x' }, 'previousPrice "x" does not fit DECIMAL(18,4)'],
  [{ item_id: '7.0' }, 'item.id "7.0" is not an int64'],
  [{ site_id: '' }, 'item.site.id "" is not an int64'],
])('a change with %o is rejected with the reason', async (values, reason) => {
  expect(await reasonOf(values)).toBe(reason);
});
