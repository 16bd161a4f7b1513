import type { Statements } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { code, itself, join, type Sql, sql } from '../sql/sql.js';

/** The maximum number of listings that one statement prepares, which limits memory use even in a large lake. */
const LISTINGS = 250_000;
const CHANGES = 400_000;
const DAILY_ROWS = 2_000_000;

/** Milliseconds that a page waits for rows before it shows a placeholder. A small lake is prepared within this time. */
const SOON_MS = 1000;

/** Nested queries that return few rows. `own_products` is empty unless the reader has a price list. */
const SMALL = ['data_clock', 'run_clocks', 'category_names', 'own_products'];

/** Nested queries from which past prices and stock are computed. */
const PAST = ['product_listings', 'product_history'];

/** A condition on product_id or item_id that selects some of the listings. */
type Part = Sql;

interface Parts {
  /** Parts that together select all listings with a product, in the order of product ids. */
  matched: Part[];
  /** Parts that together select all listings without a product. */
  others: Part[];
}

/**
 * Tables of rows that many queries need. They are created in the background; until a table is ready, queries read the
 * lake's files. Rows are sorted by product, so that reading one product is fast.
 */
export class Prepared {
  /** The nested queries whose rows are already stored in a table. */
  readonly names: ReadonlySet<string>;
  /** Resolves when offers and products are stored; rejects if they can't be stored. */
  readonly present: Promise<void>;
  /** Resolves when offers, products and past prices are stored; rejects if they can't be stored. */
  readonly all: Promise<void>;
  readonly #names = new Set<string>();
  readonly #db: Statements;
  /** Resolves after one second, which is enough time to prepare a small lake. */
  readonly soon = new Promise<void>((resolve) => setTimeout(resolve, SOON_MS).unref());
  #isPresentReady = false;
  #isReady = false;
  #failedAt: number | undefined;

  constructor(db: Statements) {
    this.names = this.#names;
    this.#db = db;
    const size = this.#measure();
    const listed = size.then(({ listings }) => this.#split(listings / LISTINGS));
    this.present = listed.then(async (parts) => {
      await this.#makePresent(parts);
      this.#isPresentReady = true;
    });
    this.all = this.present.then(async () => {
      const { listings, changes, daily } = await size;
      await this.#makePast(await listed, await this.#split(Math.max(listings / LISTINGS, changes / CHANGES)));
      await this.#makeDays(Math.ceil(daily / DAILY_ROWS));
      this.#isReady = true;
    });
    // Each query that needs the rows reports the error. This only prevents an unhandled rejection.
    this.present.catch(() => {});
    this.all.catch(() => {
      this.#failedAt = performance.now();
    });
  }

  /** The time at which preparing rows failed, in milliseconds of `performance.now()`; undefined if it hasn't failed. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  get isPresentReady(): boolean {
    return this.#isPresentReady;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Creates the small tables, and counts the rows, which determine the number of parts. */
  async #measure(): Promise<{ listings: number; changes: number; daily: number }> {
    for (const name of SMALL) {
      await this.#db.run(`CREATE TABLE ${name} AS ${readAnalysis(name)}`);
      this.#names.add(name);
    }
    const size = await this.#db.row(
      `SELECT (SELECT count(*) FROM items) AS listings, (SELECT count(*) FROM history) AS changes,
        (SELECT count(*) FROM price_spread_daily) AS daily`,
    );
    return { listings: Number(size?.listings), changes: Number(size?.changes), daily: Number(size?.daily) };
  }

  async #makePresent({ matched }: Parts): Promise<void> {
    for (const part of matched) {
      const ofPart = (table: string) => sql`${itself(table)} WHERE ${part}`;
      await this.#add('prepared_offers', ofPart('offers'), 'product_id');
      await this.#add('prepared_products', ofPart('products'), 'product_id');
      const listed = { offers: ofPart('prepared_offers'), items: ofPart('items') };
      await this.#add('single_offers', bindQuery(readAnalysis('single_offers'), listed), 'product_id');
      const cards = bindQuery(readAnalysis('product_cards', new Set(['single_offers'])), {
        ...listed,
        product_prices: ofPart('product_prices'),
        products: ofPart('prepared_products'),
        price_spread: ofPart('price_spread'),
        single_offers: ofPart('single_offers'),
      });
      await this.#add('product_cards', cards, 'product_id');
    }
    for (const table of ['offers', 'products'])
      await this.#db.run(`CREATE OR REPLACE VIEW ${table} AS FROM prepared_${table}`);
    for (const name of ['single_offers', 'product_cards']) this.#names.add(name);
  }

  /**
   * Creates the tables of past prices and stock in parts. Each part reads all files, so there are as few parts as
   * memory allows.
   */
  async #makePast(listed: Parts, { matched, others }: Parts): Promise<void> {
    for (const part of listed.matched) {
      const items = sql`${itself('items')} WHERE ${part}`;
      await this.#add('product_listings', bindQuery(readAnalysis('product_listings'), { items }), 'product_id');
    }
    for (const part of matched) {
      const listings = sql`${itself('product_listings')} WHERE ${part}`;
      const changes = bindQuery(readAnalysis('product_history'), { items: listings });
      await this.#add('product_history', changes, 'product_id, item_id');
      const history = sql`SELECT *, DATE '1970-01-01' + (epoch_us(observed_at) // 86400000000)::INTEGER AS observed_date
        ${itself('product_history')} WHERE ${part}`;
      const offers = sql`${itself('offers')} WHERE ${part}`;
      await this.#addSpells(bindQuery(readAnalysis('price_spells'), { items: listings, history, offers }));
    }
    for (const part of matched) {
      const ofPart = (table: string) => sql`${itself(table)} WHERE ${part}`;
      const stock = bindQuery(readAnalysis('listing_stock', new Set([...SMALL, ...PAST])), {
        items: ofPart('items'),
        product_listings: ofPart('product_listings'),
        history: ofPart('product_history'),
        stock_since: code('SELECT NULL::BIGINT AS after_us'),
      });
      await this.#add('listing_stock', stock, 'product_id, item_id, from_us');
    }
    for (const name of [...PAST, 'listing_stock']) this.#names.add(name);
    for (const part of others) {
      const items = sql`${itself('items')} WHERE ${part}`;
      await this.#addSpells(bindQuery(readAnalysis('price_spells'), { items }));
    }
    await this.#db.run('CREATE OR REPLACE VIEW price_spells AS FROM prepared_spells');
  }

  /** Creates the table of daily spreads in parts, because computing quantiles holds all values of a day in memory. */
  async #makeDays(parts: number): Promise<void> {
    const ranges = await this.#db.rows(`SELECT min(day)::VARCHAR AS first_day, max(day)::VARCHAR AS last_day
      FROM (
        SELECT day, ntile(${Math.max(1, parts)}) OVER (ORDER BY day) AS part FROM (SELECT DISTINCT day FROM price_spread_daily)
      )
      GROUP BY part`);
    for (const { first_day, last_day } of ranges) {
      const days = sql`${itself('price_spread_daily')} WHERE day BETWEEN ${String(first_day)} AND ${String(last_day)}`;
      await this.#add('spread_days', bindQuery(readAnalysis('spread_days'), { price_spread_daily: days }), 'day');
    }
    // Without a closed day, there are no ranges, so the table was not created.
    if (ranges.length > 0) this.#names.add('spread_days');
  }

  #addSpells(spells: Sql): Promise<void> {
    return this.#add('prepared_spells', spells, 'product_id, item_id, from_at');
  }

  /** Appends the rows of a query to a table, in the given order, and creates the table if needed. */
  async #add(table: string, { text }: Sql, order: string): Promise<void> {
    await this.#db.run(`CREATE TABLE IF NOT EXISTS ${table} AS FROM (${text}) LIMIT 0`);
    await this.#db.run(`INSERT INTO ${table} FROM (${text}) ORDER BY ${order}`);
  }

  /** Divides the listings into about `parts` parts of similar size. Returns the conditions that select each part. */
  async #split(parts: number): Promise<Parts> {
    const many = Math.max(1, Math.ceil(parts));
    const shares = Array.from({ length: many - 1 }, (_, k) => (k + 1) / many);
    const row = await this.#db.row(`SELECT count(*) - count(product_id) AS others, count(*) AS listings,
      coalesce(array_to_string(quantile_disc(product_id, [${shares.join()}]::DOUBLE[]), chr(31)), '') AS ends FROM items`);
    const ends = [...new Set(String(row?.ends).split('\u001F'))].filter((end) => end !== '');
    const matched = [...ends, undefined].map((end, k) => {
      const begin = k === 0 ? [] : [sql`product_id >= ${ends[k - 1] as string}`];
      return join([...begin, end === undefined ? code('product_id IS NOT NULL') : sql`product_id < ${end}`], ' AND ');
    });
    const others = Math.ceil((many * Number(row?.others)) / Number(row?.listings) || 0);
    return {
      matched,
      others: Array.from({ length: others }, (_, k) => code(`product_id IS NULL AND abs(item_id % ${others}) = ${k}`)),
    };
  }
}
