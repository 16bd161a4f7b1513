import type { Database } from '../../src/sql/connection.js';
import { seedRandom } from './offer-world.js';

/** A listing of the trial. `fault` names what was made wrong with it. */
export interface TrialItem {
  item_id: number;
  site_id: number;
  product_id: string;
  price: number;
  previous_price: number | null;
  title: string;
  brand: string | null;
  attributes: Record<string, unknown>;
  currency: string;
  fault?: Fault;
}

/** Number of products with each fault: 1,450 in all. One fault makes two offers of a product wrong. */
export const FAULTS = {
  'price × 100, one shop': 150,
  'price × 100, two shops of four or more': 50,
  'kuna in a EUR field (× 7.53)': 150,
  'multipack, named in the title': 150,
  'multipack, not named': 150,
  placeholder: 150,
  'price per kilogram': 150,
  'used, 45 % of the price': 150,
  'another product under the GTIN, price alike': 200,
  'another product under the GTIN, price far': 150,
} as const;
export type Fault = keyof typeof FAULTS;

const NOUNS =
  'Nektar Sok Kava Čaj Keksi Čokolada Tjestenina Riža Brašno Šećer Ulje Ocat Maslac Jogurt Sir Mlijeko Juha Umak Senf Majoneza Kečup Džem Med Pahuljice Grickalice Šampon Sapun Deterdžent Omekšivač Pasta Krema Dezodorans Salvete Tunjevina Sardine Pašteta Kobasica Šunka Grah Leća Kukuruz Grašak Masline Paprika Krastavci Voda Pivo Vino Liker Sirup Wafer Kaugummi Müsli Joghurt Essig Waschmittel Seife Biscuits Crackers Noodles Coffee Soap Cereal Peanuts'.split(
    ' ',
  );
const KINDS =
  'jabuka naranča breskva višnja jagoda limun vanilija klasik original light zeleni crni bijeli integralni domaći dimljeni ljuti slatki bez-šećera mliječni tamni lješnjak badem kokos metvica lavanda ružmarin sensitive fresh color jutarnji premium tradicionalni grčki talijanski'.split(
    ' ',
  );
const SYLLABLES = 'ba do ka li mo na pe ri so tu va ze gra fi lon dar mel tor vin nov'.split(' ');
const SIZES: [size: number, unit: 'g' | 'ml'][] = [
  ...[40, 75, 100, 125, 150, 200, 250, 300, 400, 500, 700, 800, 1500, 2000].map((size): [number, 'g'] => [size, 'g']),
  ...[200, 250, 330, 500, 700, 750, 1500, 2000].map((size): [number, 'ml'] => [size, 'ml']),
];
/** Ways to say that something is not new; half of the used offers of the trial say nothing. */
const USED_WORDS = ['rabljeno', 'B-Ware', 'Used - very good', 'refurbished', 'gebraucht', 'otvoreno pakiranje'];

type Random = () => number;
const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const cents = (price: number) => Math.max(2, Math.round(price * 100)) / 100;
const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('đ', 'd');

interface Product {
  id: string;
  brand: string;
  noun: string;
  kinds: string[];
  size: number;
  unit: 'g' | 'ml';
  level: number;
}

/** As a shop writes a title: upper case, without accents, cut words, other orders, with brand and size or without. */
function writeTitle(random: Random, { brand, noun, kinds, size, unit }: Product): string {
  const cut = random() < 0.1 ? 5 : 40;
  const words = [noun, ...kinds].map((word) => word.slice(0, cut));
  const parts = random() < 0.6 ? [brand, ...words] : random() < 0.3 ? [...words, brand] : words;
  const large = size >= 1000 && random() < 0.7;
  const amount = large ? `${size / 1000} ${unit === 'g' ? 'kg' : 'l'}` : `${size}${random() < 0.5 ? ' ' : ''}${unit}`;
  const title = [...parts, ...(random() < 0.7 ? [amount] : [])].join(' ').replaceAll('-', ' ');
  return random() < 0.3 ? plain(title).toUpperCase() : random() < 0.2 ? plain(title) : title;
}

/** A right listing: near the product's level, on offer now and then, a clearance that two shops share. */
function makeItem(random: Random, product: Product, itemId: number, site: number, clearance: boolean): TrialItem {
  // Shops like the same price points.
  const usual = random() < 0.5 ? product.level : product.level * (0.92 + 0.16 * random());
  const price = cents(usual * (clearance ? 0.42 + 0.02 * random() : random() < 0.15 ? 0.65 + 0.25 * random() : 1));
  const isTold = random() < 0.6;
  return {
    item_id: itemId,
    site_id: site,
    product_id: product.id,
    price,
    previous_price: random() < 0.3 ? cents(usual) : null,
    title: writeTitle(random, product),
    brand: random() < 0.3 ? null : random() < 0.3 ? plain(product.brand).toUpperCase() : product.brand,
    attributes: isTold ? { quantity: product.size, unit: product.unit } : {},
    currency: 'EUR',
  };
}

/** 9,000 products in 2 to 8 of 24 shops, without a fault. */
export function makeCatalogue(seed: number, products = 9000): TrialItem[] {
  const random = seedRandom(seed);
  const brands = Array.from({ length: 300 }, () => {
    const name = Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(random, SYLLABLES)).join('');
    return name.charAt(0).toUpperCase() + name.slice(1);
  });
  const items: TrialItem[] = [];
  for (let n = 0; n < products; n += 1) {
    const [size, unit] = pick(random, SIZES);
    const product: Product = {
      id: String(3_850_000_000_000 + n),
      brand: pick(random, brands),
      noun: pick(random, NOUNS),
      kinds: [pick(random, KINDS), ...(random() < 0.5 ? [pick(random, KINDS)] : [])],
      size,
      unit,
      level: Math.exp(random() * 3),
    };
    const first = Math.floor(random() * 24);
    const shops = 2 + Math.floor(random() ** 2 * 7);
    const sharesClearance = shops >= 5 && random() < 0.05;
    for (let k = 0; k < shops; k += 1) {
      const site = 1 + ((first + k * 5) % 24);
      items.push(makeItem(random, product, items.length + 1, site, sharesClearance && k < 2));
    }
  }
  return items;
}

/** Makes offers of as many products wrong as `FAULTS` says, one fault a product. Gives new items. */
export function injectFaults(items: readonly TrialItem[], seed: number): TrialItem[] {
  const random = seedRandom(seed);
  const free = [...groupItems(items).values()];
  const wrong = new Map<number, TrialItem>();
  const take = (isFit: (group: TrialItem[]) => boolean): TrialItem[] => {
    for (;;) {
      const at = Math.floor(random() * free.length);
      const group = free[at] as TrialItem[];
      if (!isFit(group)) continue;
      free.splice(at, 1);
      return group;
    }
  };
  for (const [fault, count] of Object.entries(FAULTS) as [Fault, number][]) {
    const many = fault.includes('two shops');
    for (let n = 0; n < count; n += 1) {
      const group = take((one) => (many ? one.length >= 4 : !fault.includes('kilogram') || isWeighed(one)));
      for (const item of group.slice(0, many ? 2 : 1)) {
        wrong.set(item.item_id, { ...spoil(random, fault, item, group, items), fault });
      }
    }
  }
  return items.map((item) => wrong.get(item.item_id) ?? item);
}

function groupItems(items: readonly TrialItem[]): Map<string, TrialItem[]> {
  const groups = new Map<string, TrialItem[]>();
  for (const item of items) groups.set(item.product_id, [...(groups.get(item.product_id) ?? []), item]);
  return groups;
}

/** A kilogram costs something else than the pack. */
function isWeighed([item]: TrialItem[]): boolean {
  const size = Number(item?.attributes.quantity);
  return item?.attributes.unit === 'g' && (size <= 800 || size >= 1500);
}

function spoil(
  random: Random,
  fault: Fault,
  item: TrialItem,
  group: TrialItem[],
  items: readonly TrialItem[],
): TrialItem {
  const { title, price, attributes } = item;
  const changed = { ...item, previous_price: null };
  if (fault.startsWith('price ×')) return { ...changed, price: cents(price * 100) };
  if (fault.startsWith('kuna')) return { ...changed, price: cents(price * 7.53) };
  if (fault === 'placeholder') return { ...changed, price: pick(random, [0.01, 1, 9999, 1234, 999, 99999, 0.1, 1111]) };
  if (fault === 'price per kilogram') {
    const words = random() < 0.4 ? `${title} ${pick(random, ['cijena po kg', '/kg', 'per kg'])}` : title;
    return { ...changed, price: cents((price * 1000) / Number(attributes.quantity)), title: words };
  }
  if (fault.startsWith('used')) {
    const dice = random();
    const words = dice < 0.4 ? `${title} ${pick(random, USED_WORDS)}` : title;
    const condition = dice >= 0.4 && dice < 0.5 ? { condition: 'used' } : {};
    return { ...changed, price: cents(price * 0.45), title: words, attributes: { ...attributes, ...condition } };
  }
  if (fault.startsWith('multipack')) {
    const times = pick(random, [2, 3, 4, 6, 6, 12]);
    const size = /(\d+(?:\.\d+)?) ?(ml|g|l|kg)$/iu;
    const named = fault.endsWith('title')
      ? size.test(title)
        ? title.replace(size, `${times} x $1 $2`)
        : `${title} ${times} x ${attributes.quantity ?? 250} ${attributes.unit ?? 'g'}`
      : title;
    return { ...changed, price: cents(price * times * 0.95), title: named, attributes: {} };
  }
  const other = pickOther(random, group, items);
  const level = fault.endsWith('alike')
    ? price * (0.8 + 0.4 * random())
    : price * pick(random, [0.3, 0.5, 0.6, 1.6, 1.9, 2.5]);
  return { ...changed, title: other.title, brand: other.brand, attributes: other.attributes, price: cents(level) };
}

function pickOther(random: Random, group: TrialItem[], items: readonly TrialItem[]): TrialItem {
  for (;;) {
    const other = pick(random, items);
    if (other.product_id !== group[0]?.product_id) return other;
  }
}

/** Fills table items with these listings, all seen today. */
export async function loadTrial(db: Database, items: readonly TrialItem[]): Promise<void> {
  await db.run('DELETE FROM items');
  for (let at = 0; at < items.length; at += 5000) {
    const rows = items.slice(at, at + 5000).map(({ attributes, fault: _, ...item }) => ({
      ...item,
      attributes: JSON.stringify(attributes),
    }));
    await db.run(
      `INSERT INTO items BY NAME SELECT *, true AS is_listed, TIMESTAMPTZ '2026-11-20 12:00:00Z' AS read_at, read_at AS last_seen_at
       FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","site_id":"BIGINT","product_id":"VARCHAR","price":"DECIMAL(18,4)",
         "previous_price":"DECIMAL(18,4)","title":"VARCHAR","brand":"VARCHAR","attributes":"VARCHAR","currency":"VARCHAR"}]'), recursive := true))`,
      [JSON.stringify(rows)],
    );
  }
}
