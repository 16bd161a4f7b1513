import type { Draw } from '../../draw.js';
import { always, costs, type FaultKind, isContained, mention, reprice, scale } from './kinds.js';
import { roundCents, setPrice } from './money.js';
import type { Offer } from './offers.js';
import { spellQuantity } from './quantity.js';
import { pickPhrase } from './words.js';

/** The price is right, but for something else than the product that the barcode names. */
export const WRONG_PRODUCTS: FaultKind[] = [
  {
    name: 'multipack-under-single-barcode',
    share: 1,
    comes: 'by product',
    canHappen: ({ product }) => product.euros < 60,
    spoil: (offer, draw) => {
      const count = draw.pick([2, 2, 3, 3, 4, 5, 6, 6, 6, 8, 10, 12, 12, 20, 24]);
      const sold = scale(offer, count * draw.between(0.8, 1), `A pack of ${count}.`, draw);
      return mention(sold, 'multipack', draw, 0.55, { n: String(count) });
    },
  },
  {
    name: 'bundle',
    share: 0.4,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw) => {
      const sold = scale(offer, 1 + draw.between(0.08, 0.9), 'The product together with other things.', draw);
      return mention(sold, 'bundle', draw, 0.6);
    },
  },
  {
    name: 'wrong-size',
    share: 0.8,
    comes: 'by product',
    canHappen: isContained,
    spoil: sellOtherSize,
  },
  {
    name: 'wrong-model-variant',
    share: 0.5,
    comes: 'alone',
    canHappen: costs(40),
    spoil: (offer, draw) => {
      const factor = draw.chance(0.5) ? draw.between(0.65, 0.94) : draw.between(1.06, 1.45);
      const sold = scale(offer, factor, 'Another variant of the model: memory, equipment or size.', draw);
      return draw.chance(0.4)
        ? { ...sold, title: `${sold.title ?? ''} ${draw.pick(['XL', '512GB', '64GB', 'S', 'Basic', '2.0'])}` }
        : sold;
    },
  },
  {
    name: 'follow-up-product',
    share: 0.4,
    comes: 'by product',
    canHappen: always,
    spoil: (offer, draw) => {
      const sold = scale(offer, draw.between(1.08, 1.7), 'The follow-up product, sold under the old barcode.', draw);
      return draw.chance(0.4)
        ? { ...sold, title: `${sold.title ?? ''} ${draw.pick(['2027', 'II', 'Gen 2', 'New', 'v2'])}` }
        : sold;
    },
  },
  {
    name: 'similar-product-page',
    share: 0.4,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw, market) => {
      const other = market.findSibling(offer, draw);
      const { rate, level } = { rate: offer.shop.country.rate, level: offer.shop.level };
      const amount = setPrice(other.euros * rate * level, offer.shop);
      const read = reprice(offer, amount, `The shop's page is about a similar product: ${other.title}.`, draw);
      return draw.chance(0.6) ? { ...read, title: other.title } : read;
    },
  },
  {
    name: 'mistyped-gtin',
    share: 0.5,
    comes: 'alone',
    canHappen: ({ gtin }) => gtin !== null,
    spoil: (offer, draw, market) => {
      const other = market.findNeighbor(offer, draw);
      const rate = offer.shop.country.rate / other.shop.country.rate;
      const { title, brand, mpn, attributes, priceAge, firstSeen } = other;
      return {
        ...offer,
        ...{ title, brand, mpn, attributes, priceAge, firstSeen },
        amount: roundCents(other.amount * rate, 2),
        previous: other.previous === null ? null : roundCents(other.previous * rate, 2),
        why: `The shop wrote this barcode on another product: ${other.product.title}.`,
      };
    },
  },
  {
    name: 'default-barcode-of-supplier',
    share: 0.4,
    comes: 'by shop',
    canHappen: ({ gtin }) => gtin !== null,
    spoil: (offer, draw, market) => {
      // A shop has one default. It is a number of its own, or the barcode of the supplier's first product.
      const own = DEFAULT_BARCODES[offer.shop.id % DEFAULT_BARCODES.length] as string;
      const gtin = draw.chance(0.75) ? own : (market.findSibling(offer, draw).gtin ?? own);
      return { ...offer, gtin, why: 'The supplier writes one barcode on many different products.' };
    },
  },
  {
    name: 'accessory-page',
    share: 0.4,
    comes: 'alone',
    canHappen: costs(30),
    spoil: (offer, draw) => replacePage(offer, 'accessory', draw.between(0.02, 0.25), 'A page of an accessory.', draw),
  },
  {
    name: 'spare-part',
    share: 0.2,
    comes: 'alone',
    canHappen: costs(30),
    spoil: (offer, draw) =>
      replacePage(offer, 'sparePart', draw.between(0.04, 0.5), 'A spare part, a charger alone or an empty box.', draw),
  },
  {
    name: 'tester-sample-or-refill',
    share: 0.3,
    comes: 'alone',
    canHappen: ({ product: { quantity } }) => quantity?.unit === 'ml' && quantity.amount <= 400,
    spoil: (offer, draw) =>
      mention(scale(offer, draw.between(0.05, 0.85), 'A tester, a sample or a refill.', draw), 'tester', draw, 0.6),
  },
];

/** Codes as price comparison sites know them: all zeros, a row of digits, and a number that a supplier's system begins with. */
const DEFAULT_BARCODES = [
  '0000000000000',
  '1234567890128',
  '9999999999994',
  '4000000000006',
  '3850000000008',
  '1111111111116',
];

/** The larger unit is cheaper for its content. Half of the pages still have the title of the right size. */
function sellOtherSize(offer: Offer, draw: Draw): Offer {
  const { quantity } = offer.product;
  if (quantity === null) throw new Error('Only a product with contents has another size');
  const ratio = draw.pick([0.2, 0.33, 0.4, 0.5, 0.5, 0.75, 1.5, 2, 2, 2.5, 3, 4, 5]);
  const other = { ...quantity, amount: quantity.amount * ratio };
  const text = spellQuantity(other, draw.integer(6));
  const sold = scale(offer, ratio ** draw.between(0.65, 1), `Another size: ${text}.`, draw);
  if (draw.chance(0.5) || sold.title === null) return sold;
  const amount = /\d+(?:[.,]\d+)? ?(?:k?g|[mc]?l)\b/i;
  return { ...sold, title: amount.test(sold.title) ? sold.title.replace(amount, text) : `${sold.title} ${text}` };
}

function replacePage(offer: Offer, phrase: 'accessory' | 'sparePart', factor: number, why: string, draw: Draw): Offer {
  const sold = scale(offer, factor, why, draw);
  const title = pickPhrase(phrase, offer.shop.country.language, draw, { t: offer.title ?? offer.product.title });
  return draw.chance(0.7) ? { ...sold, title } : sold;
}
