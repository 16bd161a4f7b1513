import type { Draw } from '../../draw.js';
import type { BaseProduct } from '../../trial.js';
import { renderMoney, roundCents, setPrice, showMoney } from './money.js';
import { describeProduct, type Product } from './products.js';
import { openShops, type Shop, weighAssortment } from './shops.js';
import { writeTitle } from './titles.js';
import { nameKey, pickPhrase } from './words.js';

/** An offer before it is written as an item. Amounts are in units of `currency`, times in days before the present. */
export interface Offer {
  product: Product;
  shop: Shop;
  title: string | null;
  brand: string | null;
  mpn: string | null;
  gtin: string | null;
  amount: number;
  previous: number | null;
  currency: string;
  attributes: Record<string, unknown>;
  priceAge: number | null;
  lastSeen: number;
  firstSeen: number;
  removed: number | null;
  /** Why its price is true. Faults replace it. */
  why: string;
}

/** Honest offers of all products in 2 to 30 shops each. Every price is the one that the shop asks today. */
export function openOffers(base: readonly BaseProduct[], draw: Draw): Offer[] {
  const shops = openShops(draw);
  return base.flatMap((one) => {
    const product = describeProduct(one, draw);
    const count = 2 + Math.floor(29 * draw.fraction() ** 3.2);
    const sellers = draw.sample(shops, count, (shop) => weighAssortment(shop, product.euros));
    return sellers.flatMap((shop) => {
      const copies = shop.type === 'marketplace' ? 1 + draw.integer(3) : draw.chance(0.015) ? 2 : 1;
      return Array.from({ length: copies }, () => openOffer(product, shop, draw));
    });
  });
}

function openOffer(product: Product, shop: Shop, draw: Draw): Offer {
  const { language, currency, rate } = shop.country;
  const regular = setPrice(product.euros * rate * shop.level * drawDifference(product, shop, draw), shop);
  const sale = drawSale(regular, shop, draw);
  const offer: Offer = {
    product,
    shop,
    title: writeTitle(product, shop, draw),
    brand: draw.chance(0.08) ? null : product.brand,
    ...drawCodes(product, shop, draw),
    currency,
    attributes: {},
    lastSeen: draw.between(0, shop.scrapeDays),
    firstSeen: draw.between(30, 900),
    removed: null,
    ...sale,
  };
  offer.priceAge = offer.priceAge === null ? null : Math.min(offer.priceAge, offer.firstSeen);
  return { ...offer, attributes: describeOffer(offer, sale.wording && pickPhrase('clearance', language, draw), draw) };
}

/** Most offers lie close to the shop's level. Some don't, as nobody looked at them for long or the shop bought badly. */
function drawDifference(product: Product, shop: Shop, draw: Draw): number {
  const tail = draw.fraction();
  const noise = shop.noise * product.spread;
  if (tail < 0.02) return draw.logNormal(0.45);
  return draw.logNormal(tail < 0.1 ? Math.max(0.25, noise) : noise);
}

type Sale = Pick<Offer, 'amount' | 'previous' | 'priceAge' | 'why'> & { wording: boolean };

function drawSale(regular: number, shop: Shop, draw: Draw): Sale {
  const chance = draw.fraction();
  const often = shop.type === 'outlet' ? 4 : 1;
  if (chance < 0.012 * often) {
    const amount = setPrice(regular * draw.between(0.3, 0.5), shop);
    const why = `A clearance sale: anyone can buy it now for ${renderMoney(amount)} instead of ${renderMoney(regular)}.`;
    return { amount, previous: regular, priceAge: draw.between(1, 40), wording: draw.chance(0.5), why };
  }
  if (chance < 0.08 * often) {
    const amount = setPrice(regular * draw.between(0.6, 0.92), shop);
    return {
      amount,
      previous: regular,
      priceAge: draw.between(0, 14),
      wording: false,
      why: 'A promotion for everyone.',
    };
  }
  const why = shop.type === 'convenience' ? 'An expensive convenience shop.' : 'The price that the shop asks today.';
  if (draw.chance(0.4)) return { amount: regular, previous: null, priceAge: null, wording: false, why };
  const previous = setPrice(regular * draw.logNormal(0.08), shop);
  return { amount: regular, previous, priceAge: 400 * draw.fraction() ** 2, wording: false, why };
}

function drawCodes({ gtin, mpn }: Product, { codes }: Shop, draw: Draw): Pick<Offer, 'gtin' | 'mpn'> {
  const showsOnlyPart = mpn !== null && codes === 'mpn';
  const written = gtin !== null && codes === 'gtin14' ? gtin.padStart(14, '0') : gtin;
  const isMissing = showsOnlyPart || draw.chance(0.02);
  return {
    gtin: isMissing ? null : written,
    mpn: gtin === null || showsOnlyPart || codes === 'gtin and mpn' ? mpn : null,
  };
}

/** The shop's further values. Honest pages also show money that is not the price: a scraper may take it, a reader may not. */
function describeOffer(offer: Offer, clearance: string | false, draw: Draw): Record<string, unknown> {
  const { shop, amount, product } = offer;
  const { language } = shop.country;
  const sold = clearance === false ? {} : { [nameKey('offer', language)]: clearance };
  if (shop.attributes === 'none') return sold;
  const stock = draw.chance(0.5)
    ? { [nameKey('availability', language)]: pickPhrase('inStock', language, draw) }
    : { inStock: true };
  if (shop.attributes === 'few') return { ...sold, ...stock };
  const show = (value: number) => showMoney(roundCents(value, 2), shop);
  const phrase = (name: 'usedFrom' | 'regular' | 'shipping' | 'monthly', value: number) =>
    pickPhrase(name, language, draw, { m: show(value), n: '12' });
  return {
    ...sold,
    ...stock,
    ...(draw.chance(0.3) && { rating: roundCents(draw.between(2.8, 5), 1), reviews: draw.integer(900) }),
    ...(draw.chance(0.3) && { shipping: phrase('shipping', draw.between(2, 7) * shop.country.rate) }),
    ...(draw.chance(0.15) && {
      regularPrice: phrase('regular', Math.max(offer.previous ?? 0, amount * draw.between(1.03, 1.5))),
    }),
    ...(product.euros > 60 && draw.chance(0.2) && { usedOffers: phrase('usedFrom', amount * draw.between(0.5, 0.9)) }),
    ...(product.euros > 80 && draw.chance(0.4) && { instalments: phrase('monthly', (amount * 1.04) / 12) }),
    ...(draw.chance(0.1) && { [nameKey('condition', language)]: 'new' }),
    ...(shop.type === 'marketplace' && { seller: `seller-${draw.text('0123456789', 4)}` }),
  };
}
