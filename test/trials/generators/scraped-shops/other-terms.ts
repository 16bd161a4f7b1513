import type { Draw } from '../../draw.js';
import { always, costs, type FaultKind, mention, reprice, scale } from './kinds.js';
import { roundCents, setPrice, showMoney } from './money.js';
import type { Offer } from './offers.js';
import type { ShopType } from './shops.js';
import { nameKey, type Phrase, pickPhrase } from './words.js';

/** The product is right, but it is not new, not everyone can buy it at this price, or it is not on sale today. */
export const OTHER_TERMS: FaultKind[] = [
  worse('used', 0.5, 'used', costs(15), [0.3, 0.8], 'A used piece.'),
  worse('refurbished', 0.6, 'refurbished', costs(50), [0.5, 0.88], 'A refurbished piece.'),
  worse('opened-box', 0.4, 'opened', costs(20), [0.6, 0.93], 'A customer sent it back, or the box was opened.'),
  worse('display-piece', 0.3, 'display', costs(40), [0.5, 0.9], 'A piece from the exhibition.'),
  worse('damaged-packaging', 0.2, 'damaged', always, [0.4, 0.85], 'Its packaging is damaged.'),
  worse('short-dated', 0.4, 'shortDated', ({ product }) => product.quantity !== null, [0.25, 0.7], 'It expires soon.'),
  worse('member-price', 0.6, 'member', always, [0.65, 0.96], 'Only members get this price.', ['chain', 'discounter']),
  worse('price-with-voucher', 0.2, 'voucher', always, [0.75, 0.95], 'A voucher or a cashback is already deducted.'),
  worse('subscription-price', 0.2, 'subscription', always, [0.8, 0.95], 'Only subscribers get this price.', [
    'specialist',
    'marketplace',
  ]),
  worse('with-contract', 0.3, 'contract', costs(120), [0, 0.3], 'Only with a contract for 24 months.'),
  worse('rental-price', 0.2, 'rental', costs(100), [0.02, 0.09], 'The price for a day of hire.'),
  worse(
    'auction-bid',
    0.3,
    'auction',
    isMarketplace,
    [0.01, 0.6],
    'The starting price or the present bid of an auction.',
  ),
  {
    name: 'quantity-break-price',
    share: 0.3,
    comes: 'by shop',
    likelyIn: ['trade', 'small'],
    canHappen: always,
    spoil: (offer, draw) => {
      const count = draw.pick([3, 6, 10, 12, 50, 100]);
      const sold = scale(
        offer,
        draw.between(0.55, 0.92),
        `Only a customer who buys ${count} pays this for each.`,
        draw,
      );
      const values = { n: String(count), m: showMoney(sold.amount, offer.shop) };
      return mention(sold, 'quantityBreak', draw, 0.4, values);
    },
  },
  {
    name: 'net-of-vat',
    share: 0.8,
    comes: 'by shop',
    likelyIn: ['trade', 'specialist'],
    canHappen: always,
    spoil: (offer, draw) => {
      const { product, shop } = offer;
      const rate = shop.country.vat[product.quantity !== null && product.euros < 15 && draw.chance(0.6) ? 1 : 0];
      const amount = roundCents(offer.amount / (1 + rate / 100), 2);
      return mention(reprice(offer, amount, `The price without ${rate} % VAT.`, draw), 'net', draw, 0.4);
    },
  },
  {
    name: 'absurd-marketplace-price',
    share: 2.2,
    comes: 'alone',
    canHappen: isMarketplace,
    spoil: (offer, draw) => {
      const factor = draw.between(1.6, 3) * Math.max(1, draw.logNormal(1.2));
      return scale(offer, factor, 'A seller who has no stock asks a price that nobody pays.', draw);
    },
  },
  {
    name: 'bait-of-a-marketplace-seller',
    share: 0.8,
    comes: 'alone',
    canHappen: isMarketplace,
    spoil: (offer, draw) => scale(offer, draw.between(0.05, 0.45), 'A new seller who never delivers.', draw),
  },
  {
    name: 'out-of-stock-with-old-price',
    share: 0.9,
    comes: 'alone',
    canHappen: always,
    spoil: runOut,
  },
  {
    name: 'stale-page',
    share: 0.7,
    comes: 'by shop',
    likelyIn: ['small', 'outlet', 'specialist'],
    canHappen: always,
    spoil: goStale,
  },
  {
    name: 'no-longer-listed',
    share: 0.6,
    comes: 'by shop',
    canHappen: always,
    spoil: (offer, draw) => {
      const removed = draw.between(1, 200);
      const sold = ageBy(offer, removed, draw);
      return { ...sold, removed, lastSeen: removed + draw.between(0, 1), why: 'The shop stopped listing it.' };
    },
  },
  {
    name: 'placeholder-price',
    share: 0.4,
    comes: 'by shop',
    likelyIn: ['small', 'trade', 'specialist'],
    canHappen: always,
    spoil: (offer, draw) => {
      const amount = draw.pick([0, 0.01, 0.01, 1, 1, 99, 999, 9999, 9999.99, 99999, 1111.11, 123.45, 12345]);
      return reprice(offer, amount, 'A placeholder until the shop knows the price.', draw);
    },
  },
];

function isMarketplace({ shop }: Offer): boolean {
  return shop.type === 'marketplace';
}

/** A kind that lowers the price by a factor between two bounds. About half of its pages have words that say why. */
function worse(
  name: string,
  share: number,
  phrase: Phrase,
  canHappen: FaultKind['canHappen'],
  [low, high]: [number, number],
  why: string,
  groupsIn?: readonly ShopType[],
): FaultKind {
  const spoil: FaultKind['spoil'] = (offer, draw) =>
    mention(scale(offer, draw.between(low, high), why, draw), phrase, draw, groupsIn === undefined ? 0.6 : 0.35);
  if (groupsIn === undefined) return { name, share, comes: 'alone', canHappen, spoil };
  return { name, share, comes: 'by shop', likelyIn: groupsIn, canHappen, spoil };
}

/** The offer as it was this many days ago. Prices of the past were mostly lower. */
function ageBy(offer: Offer, days: number, draw: Draw): Offer {
  const amount = setPrice(offer.amount * draw.logNormal(0.12) * 0.95 ** (days / 365), offer.shop);
  const firstSeen = Math.max(offer.firstSeen, days + 30);
  if (draw.chance(0.4)) return { ...offer, amount, previous: null, priceAge: null, firstSeen };
  const previous = setPrice(amount * draw.logNormal(0.08), offer.shop);
  return { ...offer, amount, previous, priceAge: days + draw.between(0, 30), firstSeen };
}

/** Half of the pages say so. Of the others, some have lost the value about the stock, and some still call it available. */
function runOut(offer: Offer, draw: Draw): Offer {
  const { language } = offer.shop.country;
  const old = {
    ...ageBy(offer, draw.between(20, 500), draw),
    why: 'It is sold out, and the page still shows its last price.',
  };
  const key = nameKey('availability', language);
  const { [key]: stock, inStock, ...attributes } = old.attributes;
  const form = draw.fraction();
  if (form < 0.25) return { ...old, attributes: { ...attributes, [key]: pickPhrase('outOfStock', language, draw) } };
  if (form < 0.45) return { ...old, attributes: { ...attributes, inStock: false } };
  if (form < 0.55) return mention({ ...old, attributes }, 'outOfStock', draw, 1);
  return form < 0.8 ? { ...old, attributes } : old;
}

/** The shop has closed, or it forgot the page. Either no scrape finds the page now, or each one finds it with its old price. */
function goStale(offer: Offer, draw: Draw): Offer {
  const days = draw.between(45, 1100);
  const old = ageBy(offer, days, draw);
  const page = mention(old, 'discontinued', draw, 0.15);
  if (draw.chance(0.5)) return { ...page, lastSeen: days, why: `The page was last seen ${Math.round(days)} days ago.` };
  return { ...page, why: 'The shop no longer sells it, but its page is still there.' };
}
