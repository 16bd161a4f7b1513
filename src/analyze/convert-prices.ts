import type { Database } from '../duckdb/connection.js';
import { readAnalysis, setVariables } from './analysis.js';
import { derivedSelects } from './derive.js';
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
  // Only what the figures are made of: the rows of a large lake are not held whole.
  await db.run(`CREATE OR REPLACE TEMP TABLE converted_items AS
    SELECT product_id, currency, site_id, price, is_listed FROM (${readAnalysis('converted_items')})`);
  const [select] = derivedSelects().flatMap((derived) => (derived.table === 'price_spread' ? [derived.select] : []));
  await db.substitute('items', 'FROM converted_items', () =>
    db.run(`CREATE OR REPLACE TEMP TABLE converted_spreads AS ${select}`),
  );
  await db.define('view', 'price_spread', 'FROM converted_spreads');
}

/** Loads rates beside what `daily_spreads` or `offers` give, for `converted_days` or a column of converted prices. */
export async function prepareConversion(db: Database, { file, base }: Conversion): Promise<void> {
  await loadRates(db, file);
  await setVariables(db, { base, day: null });
}
