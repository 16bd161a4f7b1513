import type { Draw } from '../../draw.js';
import { translateTitle } from '../../lexicon.js';
import { type BaseProduct, TRIAL_NOW, type TrialItem } from '../../trial.js';
import { inventMerchant, type Merchant, roundPrice } from './merchants.js';

export type Product = ReturnType<typeof describeProducts>[number];

/** A listing in the merchant's catalog. Its id, url and money are filled when the faults are known. */
export interface Offer extends TrialItem {
  product: Product;
  merchant: Merchant;
  title: string;
  /** In the offer's currency. */
  amount: number;
  /** The amount before the last change. Null if it never changed. */
  previous: number | null;
  why: string;
}

/** The time that many days before the trial's present. */
export const daysAgo = (days: number) => new Date(TRIAL_NOW - Math.floor(days * 86_400_000)).toISOString();

/** All offers before any fault: each product is in 2 to 26 shops, and a few shops list it several times. */
export function listOffers(base: readonly BaseProduct[], draw: Draw): Offer[] {
  const count = Math.min(240, Math.max(60, base.length >> 3));
  const merchants = Array.from({ length: count }, (_, place) => inventMerchant(501 + place, draw));
  const why = 'one of several listings of the product in this shop, at the same price';
  return describeProducts(base, draw).flatMap((product) => {
    const weigh = ({ size, kind }: Merchant) => size * (product.isConsumable ? kind.consumables : kind.durables);
    // Most products are in few shops, and a few are everywhere.
    const sellers = draw.sample(merchants, 2 + Math.floor(25 * draw.fraction() ** 2.3), weigh);
    return sellers.flatMap((merchant) => {
      const offer = makeOffer(product, merchant, draw);
      const title = () => `${offer.title} ${draw.pick(['(2)', '- B', product.mpn, '*', ''])}`.trim();
      const copies = draw.chance(0.3) ? merchant.copies : 0;
      return [offer, ...Array.from({ length: copies }, () => ({ ...offer, title: title(), why }))];
    });
  });
}

function describeProducts(base: readonly BaseProduct[], draw: Draw) {
  const lastOfBrand = new Map<string | null, BaseProduct>();
  return base.map((product) => {
    const { brand, title, quantity } = product;
    const sibling = brand === null ? undefined : lastOfBrand.get(brand);
    lastOfBrand.set(brand, product);
    const mpn =
      /\b[A-Z]{2,4}-?\d{2,5}\w*\b/.exec(title)?.[0] ?? draw.text('ABCDFGHKMR', 2) + draw.text('0123456789', 5);
    // Consumables are sold by content. The other products are durables. A sibling's record is near in a merchant's system.
    return { ...product, mpn, sibling, isConsumable: quantity !== null, contents: readContents(quantity) };
  });
}

/** Units of the catalog, measured in kg, litres, metres or pieces (`kom`). */
const UNITS: Record<string, number> = { kg: 1, g: 0.001, l: 1, ml: 0.001, m: 1, kom: 1 };

function readContents(quantity: string | null): { amount: number; unit: string } | null {
  const [amount, name = ''] = quantity?.toLowerCase().split(' ') ?? [];
  const size = UNITS[name];
  return size === undefined ? null : { amount: Number(amount) * size, unit: { g: 'kg', ml: 'l' }[name] ?? name };
}

function makeOffer(product: Product, merchant: Merchant, draw: Draw): Offer {
  const { country, kind, site } = merchant;
  const { mpn } = product;
  const gtin = merchant.padsGtin ? (product.gtin?.padStart(14, '0') ?? null) : product.gtin;
  const typical = Number(product.price);
  // Shops follow each other's prices of dear appliances closely; cosmetics and cheap goods differ much more.
  const sigma = product.isConsumable ? (typical >= 25 ? 0.2 : 0.14) : typical >= 200 ? 0.06 : 0.11;
  const usual = typical * country.level * kind.level * merchant.level * draw.logNormal(sigma) * country.rate;
  const luck = draw.fraction();
  const sale = luck < 0.012 ? draw.between(0.25, 0.5) : luck < 0.1 ? draw.between(0.5, 0.9) : 1;
  const [seen, age] = [draw.between(0, 1.5), draw.between(5, 700)];
  const changedAt = sale < 1 || draw.chance(0.55) ? daysAgo(draw.between(seen, Math.min(age, 90))) : null;
  const category = product.isConsumable ? 'Consumables' : 'Appliances';
  return {
    id: 0n,
    title: writeTitle(product, merchant),
    brand: merchant.isOwnBrand && product.gtin !== null ? site.name : product.brand,
    mpn: draw.chance(product.isConsumable ? 0.1 : 0.7)
      ? draw.pick([mpn, mpn, mpn.toLowerCase(), mpn.replace(/\B(?=\d)/, '-')])
      : null,
    gtin: draw.chance(merchant.coverage) ? gtin : null,
    price: null,
    previousPrice: null,
    priceChangedAt: changedAt,
    currency: country.currency,
    url: null,
    image: null,
    attributes: draw.pick([{}, { inStock: true }, { inStock: true, shippingCost: 4.99 }, { rating: 4.5 }]),
    category: draw.pick([null, { name: category, path: category, slug: category.toLowerCase(), source: 'AI' }]),
    datasets: ['Merchant catalogs'],
    site,
    source: { modelId: site.id * 10, name: 'catalog' },
    firstSeenAt: daysAgo(age),
    lastSeenAt: daysAgo(seen),
    lastChangedAt: changedAt ?? daysAgo(age),
    removedAt: null,
    product,
    merchant,
    amount: roundPrice(usual * sale, merchant),
    previous: changedAt === null ? null : roundPrice(usual * draw.logNormal(0.05), merchant),
    why:
      sale === 1 ? `the usual price of a ${kind.name}` : sale < 0.5 ? 'a real clearance of new goods' : 'a real sale',
  };
}

/** How merchants write titles: the share of merchants that have the habit, and what it does to the text. */
const HABITS: [share: number, write: (text: string, product: Product, merchant: Merchant) => string][] = [
  [0.75, (text, _, { country }) => translateTitle(text, country.language)],
  [0.15, (text, { brand }) => (brand !== null && text.startsWith(`${brand} `) ? text.slice(brand.length + 1) : text)],
  [0.4, (text, { brand }) => (brand === null || text.includes(brand) ? text : `${brand} ${text}`)],
  [0.2, (text, { quantity }) => (quantity === null || text.includes(quantity) ? text : `${text} ${quantity}`)],
  [0.2, (text, { quantity }) => (quantity === null ? text : `${text}, ${quantity.replace(' ', '').replace('.', ',')}`)],
  [0.3, (text, { quantity, mpn }) => (quantity !== null || text.includes(mpn) ? text : `${text} [${mpn}]`)],
  [0.06, (text) => text.split(' ').reverse().join(' ')],
  [0.08, (text, { gtin }) => (gtin === null ? text : `${text} / ${gtin}`)],
  [0.06, (text, _, { site }) => `${text} | ${site.name}`],
  [0.12, (text) => text.normalize('NFD').replace(/\p{M}/gu, '')],
  [0.07, (text) => text.slice(0, 40).trim()],
  [0.12, (text) => text.toUpperCase()],
];

/** A merchant writes all its titles by the same habits, so the titles of one product differ from shop to shop. */
function writeTitle(product: Product, merchant: Merchant): string {
  const habits = HABITS.filter(([share], place) => (merchant.habits[place] as number) < share);
  return habits.reduce((text, [, write]) => write(text, product, merchant), product.title);
}
