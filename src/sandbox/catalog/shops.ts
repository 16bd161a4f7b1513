import { createHash } from 'node:crypto';
import { CENTRAL_EUROPE_MASK, OPEN_DATA_MASK } from './datasets.js';

export interface Shop {
  siteId: number;
  name: string;
  host: string;
  attribution: string | null;
  currency: string;
  perEuro: number;
  words: string[];
  weight: number;
  mask: number;
  /** The shop's price level, where 1 is the market average. */
  level: number;
}

/** A source, which is a group of a shop's listings that the service scrapes together. */
export interface ScrapedSource {
  modelId: bigint;
  healthy: boolean;
  periodHours: number;
  phaseHours: number;
}

export interface ShopSource extends ScrapedSource {
  siteId: number;
  name: string;
}

/** A country's currency, and the words that its shops use in names and titles. */
interface Country {
  code: string;
  currency: string;
  /** The number of units of the currency that one euro buys. */
  perEuro: number;
  /** The country's share of all shops, relative to the other countries' weights. */
  weight: number;
  words: string[];
  shopWords: string[];
}

const COUNTRIES: Country[] = (
  [
    ['de', 'EUR', 1, 18, 'Neu|Original|Sofort lieferbar', 'Elektro|Technik|Haus|Markt|Werkstatt'],
    ['fr', 'EUR', 1, 12, 'Nouveauté|Édition limitée|Prêt à expédier', 'Maison|Boutique|Comptoir'],
    ['it', 'EUR', 1, 8, 'Novità|Qualità garantita', 'Bottega|Mercato|Casa'],
    ['es', 'EUR', 1, 8, 'Envío rápido|Año nuevo', 'Tienda|Almacén|Casa'],
    ['nl', 'EUR', 1, 6, 'Nieuw|Uit voorraad', 'Winkel|Handel|Huis'],
    ['at', 'EUR', 1, 4, 'Aktion|Für Gewerbe', 'Fachmarkt|Laden'],
    ['gr', 'EUR', 1, 3, 'Προσφορά|Νέο', 'Agora|Spiti'],
    ['pl', 'PLN', 4.28, 12, 'Nowość|Wysyłka 24 h|Łódź', 'Sklep|Hurtownia|Dom'],
    ['cz', 'CZK', 24.6, 8, 'Novinka|Skladem|Žhavá cena', 'Obchod|Dílna|Dům'],
    ['se', 'SEK', 11.2, 6, 'Nyhet|Snabb leverans|Återvunnen', 'Butik|Hem|Lager'],
    ['hu', 'HUF', 392, 5, 'Új|Raktáron|Akció őszre', 'Bolt|Áruház'],
    ['ro', 'RON', 4.98, 4, 'Nou|În stoc|Preț special', 'Magazin|Casa'],
    ['dk', 'DKK', 7.46, 3, 'Nyhed|På lager', 'Butik|Hus'],
    ['gb', 'GBP', 0.86, 3, 'New|In stock', 'Store|Depot|House'],
  ] as const
).map(([code, currency, perEuro, weight, words, shopWords]) => ({
  ...{ code, currency, perEuro, weight },
  words: words.split('|'),
  shopWords: shopWords.split('|'),
}));

const LICENSES = [
  'Prices: {name}, Open Database License (ODbL) 1.0, https://opendatacommons.example/odbl',
  'Contains data of {name}, Creative Commons Attribution 4.0 (CC BY 4.0)',
  '© {name} – données ouvertes, Licence Ouverte 2.0 “Etalab”',
];
const SECOND_WORDS = 'Nord|Süd|Plus|Direkt|Online|24|Élite|Ósmy|Pro|Zentrum|Orient|Max'.split('|');
const PERIODS = [4, 6, 8, 12, 12, 24];
const CENTRAL_EUROPE = new Set(['pl', 'cz', 'hu', 'ro']);

/** Builds shops, largest first. Their sizes follow Zipf's law. */
export function buildShops(seed: number, count: number): Shop[] {
  return Array.from({ length: count }, (_, index) => {
    const country = index < 4 ? firstCountry(index) : pickCountry(fraction(seed, index, 'country'));
    const first = pick(country.shopWords, fraction(seed, index, 'first'));
    const name = `${first} ${pick(SECOND_WORDS, fraction(seed, index, 'second'))}${index < 12 ? '' : ` ${index}`}`;
    const isOpen = index % 9 === 5;
    return {
      siteId: 10 + index * 2,
      name,
      host: `www.${hostName(name)}-${index + 1}.${country.code}.example`,
      attribution: isOpen ? pick(LICENSES, fraction(seed, index, 'licence')).replace('{name}', name) : null,
      currency: country.currency,
      perEuro: country.perEuro,
      words: country.words,
      weight: 1 / (index + 1.5) ** 0.9,
      mask: (CENTRAL_EUROPE.has(country.code) ? CENTRAL_EUROPE_MASK : 0) | (isOpen ? OPEN_DATA_MASK : 0),
      level: 0.92 + 0.2 * fraction(seed, index, 'level'),
    };
  });
}

/** Builds one to three sources per shop. About one source in thirty is broken and isn't scraped. */
export function buildSources(seed: number, shops: readonly Shop[]): ShopSource[] {
  return shops.flatMap((shop, index) => {
    const count = index < shops.length / 5 ? 3 : index % 3 === 0 ? 2 : 1;
    return Array.from({ length: count }, (_, part) => ({
      modelId: BigInt(shop.siteId * 10 + part),
      siteId: shop.siteId,
      name: count === 1 ? shop.name : `${shop.name} – ${['catalogue', 'offers', 'outlet'][part]}`,
      healthy: index === 0 || fraction(seed, shop.siteId, `healthy ${part}`) > 0.035,
      periodHours: pick(PERIODS, fraction(seed, shop.siteId, `period ${part}`)),
      phaseHours: 24 * fraction(seed, shop.siteId, `phase ${part}`),
    }));
  });
}

/** Returns a pseudorandom number, at least 0 and below 1, that depends only on the arguments. */
export function fraction(seed: number, index: number | bigint, purpose: string): number {
  return createHash('sha256').update(`${seed}/${index}/${purpose}`).digest().readUInt32BE(0) / 2 ** 32;
}

function pick<T>(values: readonly T[], at: number): T {
  return values[Math.floor(at * values.length)] as T;
}

/** Returns a fixed country for each of the four largest shops, so that even small data has several currencies. */
function firstCountry(index: number): Country {
  const code = ['de', 'pl', 'cz', 'se'][index];
  return COUNTRIES.find((country) => country.code === code) as Country;
}

function pickCountry(at: number): Country {
  const total = COUNTRIES.reduce((sum, country) => sum + country.weight, 0);
  let rest = at * total;
  for (const country of COUNTRIES) {
    rest -= country.weight;
    if (rest < 0) return country;
  }
  return COUNTRIES[0] as Country;
}

function hostName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9]+/g, '')
    .toLowerCase();
}
