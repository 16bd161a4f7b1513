import type { Draw } from '../../draw.js';
import type { Language } from '../../lexicon.js';

interface Country {
  code: string;
  language: Language;
  currency: string;
  /** Units of the currency for one EUR. */
  rate: number;
  /** The country's prices in relation to the European average. */
  level: number;
  /** Standard and reduced rate, in percent. */
  vat: [number, number];
}

const country = (
  code: string,
  language: Language,
  currency: string,
  rate: number,
  level: number,
  vat: [number, number],
): Country => ({ code, language, currency, rate, level, vat });

const COUNTRIES: Country[] = [
  country('HR', 'hr', 'EUR', 1, 0.98, [25, 13]),
  country('BA', 'hr', 'BAM', 1.95583, 0.92, [17, 17]),
  country('RS', 'hr', 'RSD', 117.1, 0.95, [20, 10]),
  country('DE', 'de', 'EUR', 1, 0.97, [19, 7]),
  country('AT', 'de', 'EUR', 1, 1.04, [20, 10]),
  country('CH', 'de', 'CHF', 0.94, 1.28, [8.1, 2.6]),
  country('CZ', 'cs', 'CZK', 24.6, 0.96, [21, 12]),
  country('PL', 'pl', 'PLN', 4.26, 0.9, [23, 8]),
  country('IT', 'it', 'EUR', 1, 1, [22, 10]),
  country('FR', 'fr', 'EUR', 1, 1.05, [20, 5.5]),
  country('BE', 'nl', 'EUR', 1, 1.04, [21, 6]),
  country('NL', 'nl', 'EUR', 1, 1.01, [21, 9]),
  country('IE', 'en', 'EUR', 1, 1.12, [23, 13.5]),
  country('GB', 'en', 'GBP', 0.86, 1.02, [20, 20]),
];

export type ShopType =
  | 'chain'
  | 'discounter'
  | 'specialist'
  | 'convenience'
  | 'marketplace'
  | 'small'
  | 'outlet'
  | 'trade';

/** Price level, spread of its offers around that level, size of its assortment, and number of such shops. */
const TYPES: Record<ShopType, { level: number; noise: number; size: number; count: number }> = {
  chain: { level: 1, noise: 0.09, size: 5, count: 24 },
  discounter: { level: 0.88, noise: 0.08, size: 2, count: 8 },
  specialist: { level: 1.02, noise: 0.08, size: 3, count: 12 },
  convenience: { level: 1.38, noise: 0.12, size: 1, count: 6 },
  marketplace: { level: 1, noise: 0.16, size: 7, count: 5 },
  small: { level: 1.06, noise: 0.15, size: 1, count: 12 },
  outlet: { level: 0.8, noise: 0.2, size: 1.2, count: 4 },
  trade: { level: 0.97, noise: 0.1, size: 1.5, count: 5 },
};

export interface Shop {
  id: number;
  name: string;
  host: string;
  attribution: string | null;
  type: ShopType;
  country: Country;
  level: number;
  noise: number;
  size: number;
  /** The end of its prices: `.99`, `.95`, a digit 9, or wherever the calculation ends. */
  ending: '.99' | '.95' | '9' | 'none';
  titles: 'brand first' | 'shouted' | 'as printed' | 'with quantity' | 'without brand' | 'reordered' | 'abbreviated';
  codes: 'gtin' | 'gtin14' | 'gtin and mpn' | 'mpn';
  /** The number of its values that the service passes on. */
  attributes: 'none' | 'few' | 'many';
  /** The longest time between two scrapes, in days. */
  scrapeDays: number;
}

const FIRST = ['Nova', 'Alpha', 'Kauf', 'Mega', 'Super', 'Porta', 'Luna', 'Metro', 'Villa', 'Terra', 'Prima', 'Astra'];
const LAST = [
  'mart',
  'shop',
  'haus',
  'sklep',
  'obchod',
  'dom',
  'casa',
  'store',
  'winkel',
  'boutique',
  'market',
  'plus',
];

/** The shops of a trial: each has a country, a price level and habits of its own. */
export function openShops(draw: Draw): Shop[] {
  const types = (Object.keys(TYPES) as ShopType[]).flatMap((type) => Array<ShopType>(TYPES[type].count).fill(type));
  return types.map((type, place) => {
    const { level, noise, size } = TYPES[type];
    const home = draw.pick(COUNTRIES);
    const name = `${draw.pick(FIRST)}${draw.pick(LAST)} ${home.code}`;
    return {
      id: 101 + place,
      name,
      host: `${name.toLowerCase().replace(' ', `${place}-`)}.example`,
      attribution: draw.chance(0.05) ? 'Price data: open price list, CC BY 4.0' : null,
      type,
      country: home,
      level: home.level * level * draw.logNormal(0.05),
      noise: noise * draw.between(0.7, 1.4),
      size: size * draw.logNormal(0.4),
      ending: draw.pick(['.99', '.99', '9', '9', '.95', 'none']),
      titles: draw.pick([
        'brand first',
        'brand first',
        'with quantity',
        'with quantity',
        'as printed',
        'shouted',
        'without brand',
        'reordered',
        'abbreviated',
      ]),
      codes: draw.pick(['gtin', 'gtin', 'gtin', 'gtin14', 'gtin and mpn', 'gtin and mpn', 'mpn']),
      attributes: draw.pick(['none', 'few', 'many', 'many']),
      scrapeDays: draw.pick([0.5, 1, 1, 2, 7]),
    };
  });
}

/** The shop's weight when the sellers of a product are drawn. A specialist rarely sells cheap goods, a corner shop rarely devices. */
export function weighAssortment(shop: Shop, euros: number): number {
  const isCheap = euros < 12;
  const affinity: Record<ShopType, number> = {
    chain: isCheap ? 1.5 : 0.6,
    discounter: isCheap ? 1.5 : 0.3,
    specialist: isCheap ? 0.4 : 1.6,
    convenience: isCheap ? 1.6 : 0.1,
    marketplace: 1,
    small: 1,
    outlet: isCheap ? 0.4 : 1.3,
    trade: 0.8,
  };
  return shop.size * affinity[shop.type];
}
