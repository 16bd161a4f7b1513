import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/sql/connection.js';
import { bindQuery, readAnalysis } from '../../src/sql/model.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { code } from '../../src/sql/sql.js';
import { openEmptyTables } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { HOUR, START } from './history-world.js';
import { ask, type Plain } from './moving-world.js';

/** The first known change is at hour 0, and the data's clock at hour END. */
const END = 500;
const SITES = [1, 2, 3, 4, 5];
/** The pipeline file maps `stock` for all, `offers.stock` for this website, and nothing for the last one. */
const NESTED = 4;
const UNMAPPED = 5;

type State = 'in stock' | 'out of stock' | 'on order' | 'unknown';
const VALUES: [value: unknown, state: State][] = [
  ['InStock', 'in stock'],
  [4, 'in stock'],
  ['SoldOut', 'out of stock'],
  [0, 'out of stock'],
  [{ quantity: 0 }, 'out of stock'],
  ['BackOrder', 'on order'],
  ['ask', 'unknown'],
  [['InStock', 'SoldOut'], 'unknown'],
  [null, 'unknown'],
];

interface Listing {
  itemId: number;
  product: string;
  site: number;
  /** Its value from each hour on; the first is its first hour. */
  values: { from: number; value: number }[];
  /** Hours without the listing, in between. */
  gaps: { from: number; to: number }[];
  end: number | undefined;
}

function makeListings(seed: number): Listing[] {
  const random = createSeeded(seed);
  const listings: Listing[] = [];
  for (let product = 0; product < 8; product++) {
    for (const site of SITES) {
      for (let n = random.integer(3); n > 0; n--) {
        const first = random.integer(END) - 200;
        const values = [{ from: first, value: random.integer(VALUES.length) }];
        const gaps: Listing['gaps'] = [];
        let hour = first + 1 + random.integer(120);
        for (; hour < END; hour += 1 + random.integer(120)) {
          if (hour > 0 && random.fraction() < 0.2) {
            const to = hour + 1 + random.integer(40);
            if (to >= END) break;
            gaps.push({ from: hour, to });
            hour = to;
          } else values.push({ from: hour, value: random.integer(VALUES.length) });
        }
        // Ids beyond the precision of a double.
        const itemId = listings.length;
        const last = Math.max(values.at(-1)?.from ?? 0, gaps.at(-1)?.to ?? 0);
        const end = last > 0 && last + 5 < END && random.fraction() < 0.2 ? last + 5 : undefined;
        listings.push({ itemId, product: `p${product}`, site, values, gaps, end });
      }
    }
  }
  return listings;
}

const time = (hour: number) => `make_timestamptz(${START + hour * HOUR})`;
const holdValue = ({ site }: Listing, value: unknown) =>
  site === NESTED ? { offers: { stock: value } } : { stock: value };

/** A change of the attribute, as a service may write it. */
function writeChange(listing: Listing, [before, after]: [unknown, unknown], form: number): object {
  const pair = [holdValue(listing, before), holdValue(listing, after)] as Record<string, unknown>[];
  if (form === 0) return { attributes: pair, title: ['a', 'b'] };
  const [name] = Object.keys(pair[0] ?? {});
  const values = pair.map((one) => one[String(name)]);
  return { [form === 1 ? String(name) : `attributes.${name}`]: values };
}

async function fill(db: Database, listings: readonly Listing[], seed: number): Promise<void> {
  const random = createSeeded(seed + 100);
  const items: string[] = [];
  const history: string[] = [`(0, NULL, 'NEW', ${time(0)}, NULL)`];
  const tell = ({ itemId }: Listing, kind: string, hour: number, changes: object | null) =>
    history.push(
      `(${history.length}, ${itemId}, '${kind}', ${time(hour)}, ${changes === null ? 'NULL' : quoteLiteral(JSON.stringify(changes))})`,
    );
  for (const listing of listings) {
    const { itemId, product, site, values, gaps, end } = listing;
    const read = (n: number) => VALUES[values[n]?.value ?? 0]?.[0] ?? null;
    const attributes = quoteLiteral(JSON.stringify({ color: 'red', ...holdValue(listing, read(values.length - 1)) }));
    items.push(
      `(${itemId}, '${product}', ${site}, ${attributes}, ${time(values[0]?.from ?? 0)}, ${time(END)}, ${end === undefined}, ${end === undefined ? 'NULL' : time(end)})`,
    );
    for (const [n, { from }] of values.entries()) {
      if (n === 0) continue;
      if (from > 0) tell(listing, 'CHANGED', from, writeChange(listing, [read(n - 1), read(n)], random.integer(3)));
      if (from > 0 && n % 2 === 0) tell(listing, 'CHANGED', from, { color: ['blue', 'red'] });
    }
    for (const { from, to } of gaps) {
      tell(listing, 'REMOVED', from, null);
      tell(listing, 'RELISTED', to, null);
    }
    if (end !== undefined) tell(listing, 'REMOVED', end, null);
  }
  await db.run(`INSERT INTO items (item_id, product_id, site_id, attributes, first_seen_at, last_seen_at, is_listed, removed_at)
    VALUES ${items.join(', ')}`);
  await db.run(`INSERT INTO history (change_id, item_id, kind, observed_at, changes) VALUES ${history.join(', ')}`);
  const sold = listings.filter((one) => stateAt([one], END - 1) === 'in stock');
  const offers = sold.map(({ itemId, product, site }) => `(${itemId}, '${product}', ${site}, 'in stock')`);
  await db.run(`INSERT INTO offers (item_id, product_id, site_id, availability) VALUES ${offers.join(', ')}`);
  await db.run(`UPDATE items SET read_at = last_seen_at, run_id = '000001-20260101T000000Z'`);
  await db.run(`INSERT INTO offer_rules (rule, site_id, meaning, text) VALUES ('attribute', NULL, 'availability', 'stock'),
    ('attribute', ${NESTED}, 'availability', 'offers.stock'), ('attribute', ${UNMAPPED}, 'availability', '')`);
}

/** The state of a shop in an hour; undefined if it does not list the product. */
function stateAt(own: readonly Listing[], hour: number): State | undefined {
  const states = own
    .filter(({ values, gaps, end }) => {
      const isThere = (values[0]?.from ?? 0) <= hour && hour < (end ?? END);
      return isThere && !gaps.some(({ from, to }) => from <= hour && hour < to);
    })
    .map(({ site, values }) => {
      if (site === UNMAPPED) return 'unknown';
      return VALUES[values.filter(({ from }) => from <= hour).at(-1)?.value ?? 0]?.[1] as State;
    });
  if (states.length === 0) return undefined;
  return (['in stock', 'unknown', 'on order'] as const).find((state) => states.includes(state)) ?? 'out of stock';
}

/** Hour by hour. */
function countSlowly(listings: readonly Listing[]): Plain[] {
  const rows: Plain[] = [];
  for (const product of new Set(listings.map((one) => one.product))) {
    const shops = SITES.map((site) => listings.filter((one) => one.product === product && one.site === site));
    const figures = SITES.map(() => ({
      known: 0,
      outs: 0,
      out: 0,
      longest: 0,
      run: 0,
      alone: 0,
      times: 0,
      wasAlone: false,
    }));
    for (let hour = 0; hour < END; hour++) {
      const states = shops.map((own) => stateAt(own, hour));
      for (const [at, one] of figures.entries()) {
        const state = states[at];
        if (state !== undefined && state !== 'unknown') one.known++;
        one.run = state === 'out of stock' ? one.run + 1 : 0;
        if (one.run === 1) one.outs++;
        if (one.run > 0) one.out++;
        one.longest = Math.max(one.longest, one.run);
        const others = states.filter((other, n) => n !== at && other !== undefined);
        const isAlone =
          state === 'in stock' &&
          others.length > 0 &&
          others.every((other) => other === 'out of stock' || other === 'on order');
        if (isAlone && !one.wasAlone) one.times++;
        if (isAlone) one.alone++;
        one.wasAlone = isAlone;
      }
    }
    for (const [at, one] of figures.entries()) {
      if (one.known === 0) continue;
      rows.push({
        ...{
          product_id: product,
          site_id: SITES[at] ?? 0,
          known_hours: one.known,
          stock_outs: one.outs,
          out_hours: one.out,
        },
        longest: one.outs === 0 ? null : one.longest,
        since: one.run === 0 ? null : END - one.run,
        is_since_known: one.run === 0 ? null : one.run < END,
        ...{ alone_times: one.times, alone_hours: one.alone },
      });
    }
  }
  return rows;
}

const hours = (days: unknown) => Math.round(Number(days) * 24);

const inHours = (row: Plain): Plain => ({
  ...{ product_id: row.product_id, site_id: Number(row.site_id), known_hours: hours(row.known_days) },
  ...{ stock_outs: Number(row.stock_outs), out_hours: hours(row.out_days) },
  longest: row.longest_out_days === null ? null : hours(row.longest_out_days),
  since: row.out_since === null ? null : Number(row.out_since) / HOUR,
  is_since_known: row.out_since_known,
  ...{ alone_times: Number(row.alone_times), alone_hours: hours(row.alone_days) },
});

/** Finds, hour by hour, the listings that moved in or out of stock between an hour and now. */
function moveSlowly(listings: readonly Listing[], since: number, until = END - 1): Plain[] {
  return listings.flatMap((listing) => {
    const states = Array.from({ length: until + 1 }, (_, hour) => stateAt([listing], hour));
    const [before, now] = [states[since], states[until]];
    const isOut = now === 'out of stock' && (before === 'in stock' || before === 'on order');
    const isBack = now === 'in stock' && before === 'out of stock';
    if (!isOut && !isBack) return [];
    const others = states.findLastIndex((state) => state !== undefined && state !== now);
    const sellers = listings.filter((one) => one.product === listing.product && one.site !== listing.site);
    const sites = sellers.filter((one) => stateAt([one], until) === 'in stock').map(({ site }) => site);
    return {
      ...{ kind: isOut ? 'out' : 'back', item_id: listing.itemId, moved: states.indexOf(now, others) },
      in_stock_shops: new Set(sites).size,
    };
  });
}

/** Stretches of all listings, as pages have them. */
async function prepareStock(db: Database): Promise<void> {
  const rows = bindQuery(readAnalysis('listing_stock'), { stock_since: code('SELECT NULL::BIGINT AS after_us') });
  await db.run(`CREATE OR REPLACE TABLE listing_stock AS ${rows.text}`);
}

const inOrder = (rows: readonly Plain[]) =>
  [...rows].sort(
    (a, b) => String(a.product_id).localeCompare(String(b.product_id)) || Number(a.site_id) - Number(b.site_id),
  );

describe.each([1, 2, 3, 4])('availability of world %i', (seed) => {
  let db: Database;
  const listings = makeListings(seed);
  beforeAll(async () => {
    db = await openEmptyTables();
    await fill(db, listings, seed);
  });
  afterAll(() => db.close());

  test('equals a count hour by hour', async () => {
    const expected = inOrder(countSlowly(listings));
    expect(expected.filter((row) => Number(row.alone_times) > 0).length).toBeGreaterThan(0);
    expect(expected.filter((row) => row.since !== null).length).toBeGreaterThan(0);
    expect(inOrder((await ask(db, 'availability', { top: '1000' })).map(inHours))).toEqual(expected);
  });

  test('is the same when asked for one product and shop, and starts with the longest time out of stock', async () => {
    const all = await ask(db, 'availability');
    const days = all.map((row) => Number(row.out_days));
    expect(days).toEqual([...days].sort((a, b) => b - a));
    for (const top of [1, 3, 10])
      expect(await ask(db, 'availability', { top: String(top) })).toEqual(all.slice(0, top));
    const [first] = all;
    const asked = { product: String(first?.product_id), site_id: String(first?.site_id) };
    expect(await ask(db, 'availability', asked)).toEqual([first]);
  });

  test('is the same with prepared stock intervals, and can be limited to listings that ran out after a time', async () => {
    await prepareStock(db);
    const prepared = new Set(['listing_stock']);
    const all = await ask(db, 'availability', { top: '1000' });
    expect(await ask(db, 'availability', { top: '1000' }, prepared)).toEqual(all);
    for (const site_id of SITES.map(String)) {
      const own = all.filter((row) => String(row.site_id) === site_id);
      expect(await ask(db, 'availability', { site_id, top: '1000' }, prepared)).toEqual(own);
    }
    const counts = new Set<number>();
    for (let hour = 0; hour < END; hour += 50) {
      const later = all.filter((row) => row.out_since !== null && Number(row.out_since) > hour * HOUR);
      const out_after = new Date((START + hour * HOUR) / 1000).toISOString();
      expect(await ask(db, 'availability', { out_after, top: '1000' })).toEqual(later);
      expect(await ask(db, 'availability', { out_after, top: '1000' }, prepared)).toEqual(later);
      counts.add(later.length);
    }
    expect(counts.size).toBeGreaterThan(1);
  });

  test('stock_moves lists the listings whose state at a time differs from the current one, and since when', async () => {
    await prepareStock(db);
    const prepared = new Set(['listing_stock']);
    let rows = 0;
    for (let hour = 0; hour < END; hour += 90) {
      const since = new Date((START + hour * HOUR) / 1000).toISOString();
      const expected = moveSlowly(listings, hour);
      const told = await ask(db, 'stock_moves', { since });
      const figures = told.map(({ kind, item_id, moved_at, in_stock_shops }) => ({
        ...{ kind, item_id: Number(item_id), moved: Number(moved_at) / HOUR, in_stock_shops: Number(in_stock_shops) },
      }));
      expected.sort(
        (one, other) => Number(other.moved) - Number(one.moved) || Number(one.item_id) - Number(other.item_id),
      );
      expect(figures).toEqual(['out', 'back'].flatMap((kind) => expected.filter((row) => row.kind === kind)));
      expect(await ask(db, 'stock_moves', { since }, prepared)).toEqual(told);
      const sold = told.filter((row) => row.kind === 'back' && Number(row.site_id) === 2);
      const chosen = await ask(db, 'stock_moves', { since, site_id: '2', kind: 'back' }, prepared);
      expect(chosen).toEqual(sold.map((row) => ({ ...row, of_kind: BigInt(sold.length) })));
      rows += told.length;
    }
    expect(rows).toBeGreaterThan(5);
  });

  test('stock_moves can compare two times in the past', async () => {
    await prepareStock(db);
    let rows = 0;
    for (let hour = 0; hour < END - 150; hour += 90) {
      const timeAt = (at: number) => new Date((START + at * HOUR) / 1000).toISOString();
      const [since, until] = [timeAt(hour), timeAt(hour + 120)];
      const expected = moveSlowly(listings, hour, hour + 120);
      for (const prepared of [new Set<string>(), new Set(['listing_stock'])]) {
        const found = await ask(db, 'stock_moves', { since, until }, prepared);
        const figures = found.map(({ kind, item_id, moved_at, in_stock_shops }) => ({
          ...{ kind, item_id: Number(item_id), moved: Number(moved_at) / HOUR, in_stock_shops: Number(in_stock_shops) },
        }));
        expected.sort(
          (one, other) => Number(other.moved) - Number(one.moved) || Number(one.item_id) - Number(other.item_id),
        );
        expect(figures).toEqual(['out', 'back'].flatMap((kind) => expected.filter((row) => row.kind === kind)));
      }
      rows += expected.length;
    }
    expect(rows).toBeGreaterThan(5);
  });
});

test('two attributes of a listing decide its stock together, and leave it unknown while they contradict each other', async () => {
  const db = await openEmptyTables();
  const changes: [hour: number, changes: object][] = [
    [0, { title: ['a', 'b'] }],
    [100, { lager: ['ask', 'SoldOut'] }],
    [200, { stock: ['InStock', 'SoldOut'] }],
    [300, { stock: ['SoldOut', 'InStock'], attributes: [{ lager: 'SoldOut' }, { lager: 'InStock' }] }],
    [400, { lager: ['InStock', null] }],
  ];
  const told = changes.map(
    ([hour, one]) => `(${hour}, 1, 'CHANGED', ${time(hour)}, ${quoteLiteral(JSON.stringify(one))})`,
  );
  await db.run(`INSERT INTO history (change_id, item_id, kind, observed_at, changes) VALUES ${told.join(', ')};
    INSERT INTO items (item_id, product_id, site_id, attributes, first_seen_at, last_seen_at, is_listed, read_at, run_id)
      VALUES (1, 'p', 1, '{"stock":"InStock"}', ${time(-50)}, ${time(END)}, true, ${time(END)}, '000001-20260101T000000Z');
    INSERT INTO offer_rules (rule, meaning, text) VALUES ('attribute', 'availability', 'stock'), ('attribute', 'availability', 'lager')`);
  const [row] = (await ask(db, 'availability')).map(inHours);
  expect(row).toMatchObject({ known_hours: 400, stock_outs: 1, out_hours: 100, longest: 100, since: null });
  await db.close();
});
