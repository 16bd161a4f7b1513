import type { Database } from '../sql/connection.js';
import { itself, sql } from '../sql/sql.js';
import type { DerivedTableName } from '../tables/table.js';
import { readAnalysis, setVariables } from './analysis.js';
import { type DerivedTable, listDerived, selectDerived } from './derive.js';
import { loadRates } from './exchange-rates.js';

/** A user's exchange rates and the currency that they are rates of. */
export interface Conversion {
  file: string;
  base: string;
}

/**
 * Replaces view `price_spread` by one over all offers that there is a rate for, their prices in the base: shops of different
 * currencies are compared. View `items` and the others stay.
 */
export async function convertSpreads(db: Database, { file, base }: Conversion): Promise<void> {
  await loadRates(db, file);
  await setVariables(db, { base, day: null });
  await db.run(`CREATE OR REPLACE TABLE converted_items AS
    SELECT item_id, product_id, currency, site_id, price, previous_price, is_listed, title, attributes, read_at, last_seen_at
    FROM (${readAnalysis('converted_items')}) WHERE is_listed AND product_id IS NOT NULL`);
  const make = async (name: DerivedTableName, tables: Parameters<typeof selectDerived>[1]) => {
    const derived = listDerived().find(({ table }) => table === name) as DerivedTable;
    await db.run(`CREATE OR REPLACE TABLE converted_${name} AS ${selectDerived(derived, tables, '').text}`);
  };
  // All prices are in one currency: the usual one of a shop is of no account.
  await make('offers', {
    items: itself('converted_items'),
    shop_currencies: sql`${itself('shop_currencies')} WHERE false`,
  });
  await make('price_spread', { offers: itself('converted_offers'), sites: itself('sites') });
  await db.run('CREATE OR REPLACE VIEW price_spread AS FROM converted_price_spread');
}

/** Loads rates beside what `daily_spreads` or `offers` give, for `converted_days` or a column of converted prices. */
export async function prepareConversion(db: Database, { file, base }: Conversion): Promise<void> {
  await loadRates(db, file);
  await setVariables(db, { base, day: null });
}
