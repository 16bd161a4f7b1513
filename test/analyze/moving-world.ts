import { DuckDBDecimalValue, DuckDBListValue, DuckDBTimestampTZValue, type DuckDBValue } from '@duckdb/node-api';
import { createSpellsView, setVariables } from '../../src/analyze/analysis.js';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { createTable, fillDerived, insertRows } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { DAY, HOUR, START } from './history-world.js';
import { type Listing, loadPriceWorld, SEEN_AT, type Segment } from './price-world.js';

/** A listing of `price-world` with numbers that are difficult to handle. */
export interface Mover extends Listing {
  id: bigint;
  /** Units beyond its segments': the prices of some products are too large for a double. */
  base: bigint;
  isGone: boolean;
}

/** The judgment of a current offer. */
export interface Verdict {
  isCounted: boolean;
  findings: string[];
}

const FIRST_ID = 2n ** 53n;
const LARGE = 900_000_000_000_000_000n;
/** Runs read the service to its end on these days. The feed shows a change 30 seconds after it happens. */
export const RUN_DAYS = [130, 140, 147, 149, 150.5];
export const FEED_DELAY = 30_000_000;

/** Shops with several listings of a product, equal prices, mistyped ones, gaps, and listings in a foreign currency. */
function makeMovers(seed: number, products: number): Mover[] {
  const random = createSeeded(seed);
  const movers: Mover[] = [];
  for (let product = 0; product < products; product++) {
    const level = 10_000 * (20 + random.integer(400));
    for (let siteId = 1; siteId <= 6; siteId++) {
      for (let listing = random.integer(4); listing > 0; listing -= 2) {
        const currency = siteId > 4 !== random.fraction() < 0.04 ? 'PLN' : 'EUR';
        const firstSeenAt = random.fraction() < 0.7 ? 0 : (100 + random.integer(50)) * DAY + random.integer(DAY);
        const itemId = 1 + movers.length;
        movers.push({
          itemId,
          id: FIRST_ID + BigInt(itemId),
          base: product % 24 < 4 ? LARGE : 0n,
          productId: `p${String(product).padStart(2, '0')}`,
          siteId,
          category: product % 3 ? 'toys' : 'tools',
          currency,
          firstSeenAt,
          segments: makeSegments(random, firstSeenAt, level * (currency === 'PLN' ? 4 : 1)),
          isGone: itemId % 4 === 0,
        });
      }
    }
  }
  return movers;
}

function makeSegments(random: ReturnType<typeof createSeeded>, firstSeenAt: number, level: number): Segment[] {
  const segments: Segment[] = [];
  for (let from = firstSeenAt; from < SEEN_AT; ) {
    const to = from === 0 ? (100 + random.integer(45)) * DAY : from + HOUR + random.integer(9 * DAY);
    const dice = random.fraction();
    const usual = Math.round((level * (90 + random.integer(20))) / 100);
    let units = dice < 0.05 ? usual * 100 : usual;
    if (segments.at(-1)?.units === units) units += 100;
    segments.push({ from, to: to < SEEN_AT && dice < 0.95 ? to : Infinity, units, isTold: true });
    if (segments.at(-1)?.to === Infinity || dice > 0.88) break;
    from = dice > 0.75 ? to + HOUR + random.integer(4 * DAY) : to;
  }
  return segments;
}

/** Makes the tables of these listings, as runs left them, and gives what can be known of the listings. */
async function loadMovers(db: Database, movers: readonly Mover[]): Promise<Mover[]> {
  const known = await loadPriceWorld(
    db,
    movers.map(({ id, base, ...listing }) => listing),
  );
  const large = movers.filter(({ base }) => base > 0n).map(({ itemId }) => itemId);
  const gone = movers.filter(({ isGone, segments }) => isGone && segments.at(-1)?.to !== Infinity);
  const ids = (list: readonly number[]) => `(${list.join(', ')})`;
  const more = `${LARGE / 10_000n}::DECIMAL(18, 4)`;
  await db.run(
    `UPDATE items SET price = price + ${more}, previous_price = previous_price + ${more} WHERE item_id IN ${ids(large)}`,
  );
  await db.run(`UPDATE history SET price = price + ${more}, previous_price = previous_price + ${more}, changes = NULL
    WHERE item_id IN ${ids(large)}`);
  // Missing in a complete copy, without a word in the feed.
  const goneIds = ids(gone.map(({ itemId }) => itemId));
  await db.run(`DELETE FROM history USING items WHERE history.item_id = items.item_id AND history.kind = 'REMOVED'
    AND history.observed_at = items.removed_at AND items.item_id IN ${goneIds}`);
  await db.run(`UPDATE items SET gone_at = removed_at, removed_at = NULL WHERE item_id IN ${goneIds}`);
  for (const table of ['items', 'history']) await db.run(`UPDATE ${table} SET item_id = item_id + ${FIRST_ID}`);
  await createTable(db, 'runs');
  for (const [k, day] of RUN_DAYS.entries()) {
    const at = `make_timestamptz(${START + day * DAY})`;
    await insertRows(db, 'runs', [
      { run_number: `${k + 1}`, run_id: `'r${k + 1}'`, caught_up_at: at, finished_at: at },
    ]);
  }
  await db.run(`UPDATE history SET run_id = (SELECT min(runs.run_id) FROM runs
    WHERE epoch_us(runs.caught_up_at) >= epoch_us(history.observed_at) + ${FEED_DELAY})`);
  for (const table of [
    'products',
    'product_prices',
    'shop_currencies',
    'sources',
    'offer_rules',
    'user_matches',
    'matches',
    'offers',
    'price_spread',
    'price_spread_daily',
  ] as const)
    await createTable(db, table);
  await fillDerived(db);
  return movers.map((mover, k) => ({ ...mover, ...known[k] }));
}

async function readVerdicts(db: Database): Promise<Map<bigint, Verdict>> {
  const judged = readAnalysis('all_offers');
  const rows = await db.rows(`SELECT item_id, is_counted, to_json(findings)::VARCHAR AS findings FROM (${judged})`);
  return new Map(
    rows.map((row) => [
      row.item_id as bigint,
      { isCounted: row.is_counted === true, findings: JSON.parse(String(row.findings)) },
    ]),
  );
}

export type Plain = Record<string, unknown>;

/** A seeded world and the facts known about it. */
export async function openMoverWorld(seed: number, products = 24) {
  const db = await Database.open();
  const listings = await loadMovers(db, makeMovers(seed, products));
  await createSpellsView(db);
  return { db, listings, verdicts: await readVerdicts(db) };
}

/** Rows with money in units of 0.0001, and instants in micros after the world's first. */
export async function ask(
  db: Database,
  name: string,
  variables: Record<string, string> = {},
  prepared: ReadonlySet<string> = new Set(),
): Promise<Plain[]> {
  await setVariables(db, variables);
  try {
    const rows = await db.rows(readAnalysis(name, prepared));
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, toPlain(value)])));
  } finally {
    await setVariables(db, Object.fromEntries(Object.keys(variables).map((key) => [key, null])));
  }
}

function toPlain(value: DuckDBValue): unknown {
  if (value instanceof DuckDBDecimalValue) return value.value;
  if (value instanceof DuckDBTimestampTZValue) return Number(value.micros - BigInt(START));
  return value instanceof DuckDBListValue ? value.items : value;
}

export const moneyOf = ({ base }: Mover, segment: Segment | undefined) =>
  segment === undefined ? null : base + BigInt(segment.units);

/** Another listing of the shop may be cheaper, which makes a price no error. */
export const isRight = (verdict: Verdict | undefined) =>
  verdict !== undefined && (verdict.isCounted || verdict.findings.join() === 'duplicate');

export const compare = (one: bigint, other: bigint) => (one < other ? -1 : Number(one > other));
