import type { Draw } from '../../draw.js';

/** `rate` is units of the currency per EUR. `level` compares prices with those of the base products. */
const COUNTRIES = [
  { code: 'de', language: 'de', currency: 'EUR', rate: 1, vat: 0.19, level: 1 },
  { code: 'hr', language: 'hr', currency: 'EUR', rate: 1, vat: 0.25, level: 1.04 },
  { code: 'it', language: 'it', currency: 'EUR', rate: 1, vat: 0.22, level: 1.03 },
  { code: 'fr', language: 'fr', currency: 'EUR', rate: 1, vat: 0.2, level: 1.05 },
  { code: 'nl', language: 'nl', currency: 'EUR', rate: 1, vat: 0.21, level: 1.02 },
  { code: 'cz', language: 'cs', currency: 'CZK', rate: 24.3, vat: 0.21, level: 0.97 },
  { code: 'pl', language: 'pl', currency: 'PLN', rate: 4.25, vat: 0.23, level: 0.93 },
  { code: 'uk', language: 'en', currency: 'GBP', rate: 0.87, vat: 0.2, level: 1.05 },
  { code: 'ch', language: 'de', currency: 'CHF', rate: 0.94, vat: 0.081, level: 1.3 },
] as const;

/** A way to trade: its price level, and how readily it sells consumables and durables. */
const KINDS = [
  { name: 'chain', weight: 22, level: 1, consumables: 1, durables: 0.6 },
  { name: 'discounter', weight: 10, level: 0.84, consumables: 1, durables: 0.3 },
  { name: 'convenience shop', weight: 12, level: 1.42, consumables: 1, durables: 0.03 },
  { name: 'specialist', weight: 25, level: 1.04, consumables: 0.5, durables: 1 },
  { name: 'marketplace', weight: 12, level: 0.98, consumables: 0.5, durables: 1 },
  { name: 'wholesaler', weight: 10, level: 0.96, consumables: 0.7, durables: 0.7 },
  { name: 'importer', weight: 9, level: 0.95, consumables: 0.4, durables: 0.9 },
] as const;

export type Merchant = ReturnType<typeof inventMerchant>;

export function inventMerchant(id: number, draw: Draw) {
  const country = draw.pick(COUNTRIES);
  const name = Array.from({ length: 3 }, () => draw.text('bdfgklmnprstvz', 1) + draw.text('aeiou', 1)).join('');
  return {
    country,
    kind: draw.sample(KINDS, 1, ({ weight }) => weight)[0] as (typeof KINDS)[number],
    site: { id, name: `Shop ${name}`, host: `${name}-${id}.${country.code}.example`, attribution: null },
    /** Weight in the draw of who sells a product. A few merchants sell almost everything. */
    size: 0.2 + draw.logNormal(1),
    level: draw.logNormal(0.06),
    ending: draw.pick(['cents', 'nines', 'nines', 'whole'] as const),
    /** One number per habit of writing titles. The merchant has the habits whose number is below their share. */
    habits: Array.from({ length: 12 }, draw.fraction),
    /** The share of its offers that show a GTIN. */
    coverage: draw.pick([0, 0.7, 0.9, 0.98, 1]),
    padsGtin: draw.chance(0.1),
    /** It fills the brand with its own name. */
    isOwnBrand: draw.chance(0.04),
    /** How many more times it lists a product that it lists more than once. */
    copies: draw.chance(0.12) ? 1 + draw.integer(4) : 0,
    /** What an old or wrong rate multiplies a correct conversion by. */
    rateError: draw.chance(0.5) ? draw.between(0.72, 0.95) : draw.between(1.06, 1.35),
    /** Days since it closed, if it did. */
    closedDays: draw.between(60, 500),
  };
}

/** The price as the merchant ends its prices: 12.37, 12.99, or 310 where amounts are large. Never below 0.05. */
export function roundPrice(amount: number, { ending }: Merchant): number {
  if (ending === 'whole' && amount >= 40) return Math.round(amount);
  if (ending === 'nines' && amount >= 3) return Math.round(amount) - 0.01;
  return Math.max(0.05, Math.round(amount * 100) / 100);
}
