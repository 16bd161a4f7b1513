import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { itself, sql } from '../sql/sql.js';
import type { DerivedTableName } from '../tables/table.js';
import { setVariables } from './analysis.js';
import { type DerivedTable, listDerived, selectDerived } from './derived-tables.js';
import { loadUserTable } from './user-table.js';

/**
 * Loads the user's exchange rates as the `rates` table (date, currency, rate). A rate is the amount of `currency` for
 * one unit of the base currency. The rate applies from its date until the date of the next rate.
 * @throws PricelakeError `config` with the file and line of the first invalid rate
 */
export function loadRates(db: Database, file: string): Promise<void> {
  return loadUserTable(db, {
    ...{ file, name: 'rates', rows: 'rates', columns: ['date', 'currency', 'rate'] },
    fault: `CASE
      WHEN TRY_CAST(date AS DATE) IS NULL THEN 'date "' || coalesce(date, '') || '" is not a day such as 2026-11-20'
      WHEN NOT coalesce(regexp_full_match(currency, '[A-Z]{3}'), false)
        THEN 'currency "' || coalesce(currency, '') || '" is not an ISO 4217 code such as PLN'
      WHEN coalesce(TRY_CAST(rate AS DECIMAL(28, 10)), 0) <= 0
        THEN 'rate "' || coalesce(rate, '') || '" is not a number above 0 such as 4.2435'
      WHEN count(*) OVER (PARTITION BY TRY_CAST(date AS DATE), currency) > 1
        THEN currency || ' has two rates for ' || date
    END`,
    select: 'date::DATE AS date, currency, rate::DECIMAL(28, 10) AS rate',
    hint: 'A rate file is CSV with a header: date,currency,rate; for example 2026-11-20,PLN,4.2435 for one unit of the base.',
  });
}

/** The file of the user's exchange rates, and their base currency. */
export interface Conversion {
  file: string;
  base: string;
}

/**
 * Replaces the `offers` and `price_spread` views with views in the base currency, to compare shops that use different
 * currencies. The new views contain all offers with a known rate. Doesn't change other views.
 */
export async function convertSpreads(db: Database, conversion: Conversion): Promise<void> {
  await prepareConversion(db, conversion);
  await db.run(`CREATE OR REPLACE TABLE converted_items AS
    SELECT item_id, product_id, currency, site_id, source_id, price, previous_price, is_listed, title, brand, attributes
    FROM (${readAnalysis('converted_items')}) WHERE is_listed AND product_id IS NOT NULL`);
  const make = async (name: DerivedTableName, tables: Parameters<typeof selectDerived>[1]) => {
    const derived = listDerived().find(({ table }) => table === name) as DerivedTable;
    await db.run(`CREATE OR REPLACE TABLE converted_${name} AS ${selectDerived(derived, tables, '').text}`);
  };
  await make('product_prices', { items: itself('converted_items') });
  // All prices have been converted to one currency, so the shops' usual currencies don't matter.
  await make('offers', {
    items: itself('converted_items'),
    product_prices: itself('converted_product_prices'),
    shop_currencies: sql`${itself('shop_currencies')} WHERE false`,
    sources: itself('sources'),
    // Ignores attributes that contain amounts. An amount without a currency is in the shop's currency, but would count
    // as an amount in the base currency.
    offer_rules: sql`${itself('offer_rules')} WHERE rule <> 'attribute' OR meaning NOT IN ('shipping cost', 'regular price')`,
  });
  await make('price_spread', { offers: itself('converted_offers'), sites: itself('sites') });
  for (const name of ['offers', 'price_spread']) {
    await db.run(`CREATE OR REPLACE VIEW ${name} AS FROM converted_${name}`);
  }
}

/** Loads the rates, and sets the variables of the queries that convert prices. */
export async function prepareConversion(db: Database, { file, base }: Conversion): Promise<void> {
  await loadRates(db, file);
  await setVariables(db, { base, day: null });
}
