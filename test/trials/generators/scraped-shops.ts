/**
 * Faults as they come from scrapers and from pages of shops, among honest offers that differ as real ones do.
 *
 * Each share is the part, in percent, of the offers to which the fault can happen: instalments only from 80 EUR, deposits
 * only for drinks, bids only on marketplaces. Faults marked (shop) come mostly in groups: a scraper or a habit spoils many
 * pages of one shop. Those marked (product) do so in several shops of a product, which copied one distributor's list.
 *
 * The scraper took another number of a page that is right (`misread-prices.ts`). Pages show up to a dozen amounts, selectors
 * break when a shop changes its design, and number formats differ by country.
 * - instalment: 0.7 % (shop)
 * - price-per-kg-or-litre: 0.6 % (shop)
 * - price-per-100-g-or-ml: 0.3 % (shop)
 * - price-per-piece-of-a-pack: 0.8 % (product)
 * - crossed-out-price: 0.7 % (shop)
 * - shipping-fee: 0.2 % (shop)
 * - shipping-included: 0.2 % (shop)
 * - deposit: 0.3 % (shop)
 * - accessory-price: 0.4 %
 * - warranty-price: 0.2 % (shop)
 * - from-price-of-variants: 0.6 %
 * - price-of-a-recommendation: 0.3 %
 * - saving-read-as-price: 0.2 %
 * - percent-or-rating-read-as-price: 0.2 %
 * - lost-decimal-separator: 0.4 % (shop)
 * - cents-read-as-thousandths: 0.2 %
 * - thousands-separator-read-as-decimal: 1.7 % (shop)
 * - cut-at-thousands-space: 1.1 % (shop)
 * - two-numbers-glued: 0.1 %
 * - wrong-currency: 0.5 % (shop)
 *
 * The page is about something else than its barcode (`wrong-products.ts`). Shops type barcodes by hand, copy a page for the
 * next size or model, and sell cartons under the code of the piece. Suppliers fill a required field with any number.
 * - multipack-under-single-barcode: 1 % (product)
 * - bundle: 0.4 %
 * - wrong-size: 0.8 % (product)
 * - wrong-model-variant: 0.5 %
 * - follow-up-product: 0.4 % (product)
 * - similar-product-page: 0.4 %
 * - mistyped-gtin: 0.5 %
 * - default-barcode-of-supplier: 0.4 % (shop)
 * - accessory-page: 0.4 %
 * - spare-part: 0.2 %
 * - tester-sample-or-refill: 0.3 %
 *
 * The product is right, but it is not new, not for everyone at this price, or not on sale today (`other-terms.ts`).
 * Marketplaces show pieces in any condition on one page, trade shops show net prices, and closed shops leave pages behind.
 * - used: 0.5 %
 * - refurbished: 0.6 %
 * - opened-box: 0.4 %
 * - display-piece: 0.3 %
 * - damaged-packaging: 0.2 %
 * - short-dated: 0.4 %
 * - member-price: 0.6 % (shop)
 * - price-with-voucher: 0.2 %
 * - subscription-price: 0.2 % (shop)
 * - with-contract: 0.3 %
 * - rental-price: 0.2 %
 * - auction-bid: 0.3 %
 * - quantity-break-price: 0.3 % (shop)
 * - net-of-vat: 0.8 % (shop)
 * - absurd-marketplace-price: 2.2 %
 * - bait-of-a-marketplace-seller: 0.8 %
 * - out-of-stock-with-old-price: 0.9 %
 * - stale-page: 0.7 % (shop)
 * - no-longer-listed: 0.6 % (shop)
 * - placeholder-price: 0.4 % (shop)
 *
 * Honest offers come from 76 shops in 14 countries, 2 to 30 for a product. They differ by country, shop, product and chance,
 * with long tails, clearance sales at half the price and less, convenience shops, titles in eight languages, and values
 * such as "used from 12,99 €" beside a true price. Two thirds of the faults leave the title and these values as they were.
 */
import { createDraw, type Draw } from '../draw.js';
import { type BaseProduct, TRIAL_NOW, type Trial, type TrialItem } from '../trial.js';
import { chooseFaults } from './scraped-shops/choose-faults.js';
import { groupBy } from './scraped-shops/group-by.js';
import type { FaultKind, Market } from './scraped-shops/kinds.js';
import { MISREAD_PRICES } from './scraped-shops/misread-prices.js';
import { renderMoney } from './scraped-shops/money.js';
import { type Offer, openOffers } from './scraped-shops/offers.js';
import { OTHER_TERMS } from './scraped-shops/other-terms.js';
import type { Product } from './scraped-shops/products.js';
import { WRONG_PRODUCTS } from './scraped-shops/wrong-products.js';

export const SCRAPED_FAULTS: readonly FaultKind[] = [...MISREAD_PRICES, ...WRONG_PRODUCTS, ...OTHER_TERMS];

/** Offers of these products in many shops, with faults. The same products and seed give the same trial. */
export function generateScrapedShops(base: readonly BaseProduct[], seed: number): Trial {
  const draw = createDraw(seed);
  const offers = openOffers(base, draw);
  const faults = chooseFaults(offers, SCRAPED_FAULTS, draw);
  const market = openMarket(offers);
  const trial: Trial = { items: [], truth: [] };
  // Doubles end at 2^53: a reader that makes numbers of ids merges neighbors.
  let id = 2n ** 53n + BigInt(draw.integer(1_000_000));
  for (const honest of offers) {
    id += BigInt(1 + draw.integer(9));
    const kind = faults.get(honest);
    const offer = kind === undefined ? honest : kind.spoil(honest, draw, market);
    trial.items.push(writeItem(offer, id));
    trial.truth.push({ itemId: String(id), fault: kind?.name ?? null, why: offer.why });
  }
  return trial;
}

/** The honest offers that a test compares shares with: those that `generateScrapedShops` spoils for the same arguments. */
export const listHonestOffers = (base: readonly BaseProduct[], seed: number): Offer[] =>
  openOffers(base, createDraw(seed));

function openMarket(offers: readonly Offer[]): Market {
  const byShop = groupBy(offers, ({ shop }) => shop);
  const byBrand = groupBy(offers, ({ product }) => product.brand);
  const findOther = (offer: Offer, near: readonly Offer[], draw: Draw): Offer => {
    for (const list of [near, near, near, near, offers, offers, offers, offers]) {
      const other = draw.pick(list);
      if (other.product !== offer.product) return other;
    }
    return offers.find(({ product }) => product !== offer.product) ?? offer;
  };
  return {
    findNeighbor: (offer, draw) => findOther(offer, byShop.get(offer.shop) ?? offers, draw),
    findSibling: (offer, draw) => {
      const near = byBrand.get(offer.product.brand) ?? offers;
      const others = Array.from({ length: 5 }, () => findOther(offer, near, draw).product);
      const differ = ({ euros }: Product) => Math.abs(Math.log(euros / offer.product.euros));
      return others.reduce((best, other) => (differ(other) < differ(best) ? other : best));
    },
  };
}

function writeItem(offer: Offer, id: bigint): TrialItem {
  const { shop, firstSeen, lastSeen, removed, amount } = offer;
  // Rounding may have undone the last change of the price.
  const previous = offer.previous === amount ? null : offer.previous;
  const priceAge = previous === null ? null : offer.priceAge;
  const changedAt = Math.min(removed ?? firstSeen, priceAge ?? firstSeen, firstSeen);
  return {
    id,
    title: offer.title,
    brand: offer.brand,
    mpn: offer.mpn,
    gtin: offer.gtin,
    price: renderMoney(amount),
    previousPrice: previous === null || priceAge === null ? null : renderMoney(previous),
    priceChangedAt: priceAge === null ? null : writeTime(priceAge),
    currency: offer.currency,
    url: `https://${shop.host}/p/${id}`,
    image: id % 3n === 0n ? null : `https://${shop.host}/images/${id}.jpg`,
    attributes: offer.attributes,
    category: categorize(offer),
    datasets: ['Trial'],
    site: { id: shop.id, name: shop.name, host: shop.host, attribution: shop.attribution },
    source: { modelId: shop.id * 10, name: 'catalog' },
    firstSeenAt: writeTime(firstSeen),
    lastSeenAt: writeTime(lastSeen),
    lastChangedAt: writeTime(changedAt),
    removedAt: removed === null ? null : writeTime(removed),
  };
}

/** Whole seconds, as scrapers record them. */
const writeTime = (daysAgo: number): string =>
  `${new Date(TRIAL_NOW - Math.round(daysAgo * 86_400) * 1000).toISOString().slice(0, 19)}Z`;

/** Half of the shops have no categories. The others file a product by its contents and price, as their trees would. */
function categorize({ shop, product }: Offer): TrialItem['category'] {
  if (shop.id % 2 === 0) return null;
  if (product.quantity !== null)
    return { name: 'Daily needs', path: 'Home > Daily needs', slug: 'daily-needs', source: 'AI' };
  return { name: 'Devices', path: 'Home > Devices', slug: 'devices', source: product.euros > 100 ? 'MANUAL' : 'AI' };
}
