import type { Draw } from '../../draw.js';
import { always, costs, type FaultKind, isContained, mention, reprice, scale } from './kinds.js';
import { renderMoney, roundCents, showMoney } from './money.js';
import type { Offer } from './offers.js';

/** The page is right, but the scraper took another number of it, or only a part of the number. */
export const MISREAD_PRICES: FaultKind[] = [
  {
    name: 'instalment',
    share: 0.7,
    comes: 'by shop',
    canHappen: costs(80),
    spoil: (offer, draw) => {
      const months = draw.pick([6, 10, 12, 24, 36]);
      const rate = roundCents((offer.amount * draw.between(1, 1.12)) / months, 2);
      const read = reprice(offer, rate, `One of ${months} monthly payments was read as the price.`, draw);
      return mention(read, 'monthly', draw, 0.4, { n: String(months), m: showMoney(rate, offer.shop) });
    },
  },
  {
    name: 'price-per-kg-or-litre',
    share: 0.6,
    comes: 'by shop',
    canHappen: (offer) => isContained(offer) && offer.product.quantity?.amount !== 1000,
    spoil: (offer, draw) => readUnitPrice(offer, 1000, draw),
  },
  {
    name: 'price-per-100-g-or-ml',
    share: 0.3,
    comes: 'by shop',
    canHappen: (offer) => isContained(offer) && offer.product.quantity?.amount !== 100,
    spoil: (offer, draw) => readUnitPrice(offer, 100, draw),
  },
  {
    name: 'price-per-piece-of-a-pack',
    share: 0.8,
    comes: 'by product',
    canHappen: ({ product: { quantity } }) => quantity?.unit === 'piece' && quantity.amount > 1,
    spoil: (offer, draw) => {
      const pieces = offer.product.quantity?.amount as number;
      const amount = Math.max(0.01, roundCents(offer.amount / pieces, 2));
      return reprice(offer, amount, `The price of one of the ${pieces} pieces in the pack.`, draw);
    },
  },
  {
    name: 'crossed-out-price',
    share: 0.7,
    comes: 'by shop',
    canHappen: always,
    spoil: (offer, draw) => {
      const why = `The crossed-out price: the shop asks ${renderMoney(offer.amount)}.`;
      const read = scale(offer, 1.1 + 0.35 * draw.logNormal(0.7), why, draw);
      return mention(read, 'regular', draw, 0.3, { m: showMoney(read.amount, offer.shop) });
    },
  },
  {
    name: 'shipping-fee',
    share: 0.2,
    comes: 'by shop',
    canHappen: always,
    spoil: (offer, draw) => {
      const amount = chargeFee(offer, draw.pick([1.99, 2.99, 3.5, 4.9, 4.99, 5.95, 6.9]));
      const read = reprice(offer, amount, 'The shipping fee was read as the price.', draw);
      return mention(read, 'shipping', draw, 0.2, { m: showMoney(amount, offer.shop) });
    },
  },
  {
    name: 'shipping-included',
    share: 0.2,
    comes: 'by shop',
    canHappen: always,
    spoil: (offer, draw) => {
      const fee = chargeFee(offer, draw.pick([2.99, 3.99, 4.99, 6.9]));
      return reprice(offer, roundCents(offer.amount + fee, 2), `The total with ${fee} for shipping was read.`, draw);
    },
  },
  {
    name: 'deposit',
    share: 0.3,
    comes: 'by shop',
    canHappen: ({ product: { quantity } }) => quantity?.unit === 'ml' && quantity.amount >= 200,
    spoil: (offer, draw) => {
      const amount = chargeFee(offer, draw.pick([0.07, 0.08, 0.1, 0.15, 0.25]));
      const read = reprice(offer, amount, 'The deposit of the bottle was read as the price.', draw);
      return mention(read, 'deposit', draw, 0.3, { m: showMoney(amount, offer.shop) });
    },
  },
  {
    name: 'accessory-price',
    share: 0.4,
    comes: 'alone',
    canHappen: costs(40),
    spoil: (offer, draw) =>
      scale(offer, draw.between(0.02, 0.2), 'The price of an accessory in the same box of the page.', draw),
  },
  {
    name: 'warranty-price',
    share: 0.2,
    comes: 'by shop',
    canHappen: costs(100),
    spoil: (offer, draw) => {
      const read = scale(offer, draw.between(0.05, 0.16), 'The price of the extended warranty was read.', draw);
      return mention(read, 'warranty', draw, 0.2, { m: showMoney(read.amount, offer.shop) });
    },
  },
  {
    name: 'from-price-of-variants',
    share: 0.6,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw) => {
      const why = 'The lowest price of all sizes on the page, which this variant does not have.';
      return mention(scale(offer, draw.between(0.25, 0.85), why, draw), 'from', draw, 0.35);
    },
  },
  {
    name: 'price-of-a-recommendation',
    share: 0.3,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw, market) => {
      const other = market.findNeighbor(offer, draw);
      const rate = offer.shop.country.rate / other.shop.country.rate;
      const why = `The price of another product on the page: ${other.product.title}.`;
      return reprice(offer, roundCents(other.amount * rate, 2), why, draw);
    },
  },
  {
    name: 'saving-read-as-price',
    share: 0.2,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw) => {
      const amount = Math.max(0.01, roundCents(offer.amount * draw.between(0.05, 0.5), 2));
      return reprice(offer, amount, 'The amount that a customer saves was read.', draw);
    },
  },
  {
    name: 'percent-or-rating-read-as-price',
    share: 0.2,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw) => {
      const amount = draw.pick([10, 15, 20, 25, 30, 40, 50, roundCents(draw.between(3, 5), 1), 1 + draw.integer(400)]);
      return reprice(offer, amount, 'A percentage, a rating or a number of reviews was read as the price.', draw);
    },
  },
  {
    name: 'lost-decimal-separator',
    share: 0.4,
    comes: 'by shop',
    canHappen: always,
    spoil: (offer, draw) => reprice(offer, roundCents(offer.amount * 100, 0), 'The decimal separator was lost.', draw),
  },
  {
    name: 'cents-read-as-thousandths',
    share: 0.2,
    comes: 'alone',
    canHappen: always,
    spoil: (offer, draw) => {
      const amount = Math.max(0.01, roundCents(offer.amount / draw.pick([10, 100, 100, 1000]), 2));
      return reprice(offer, amount, 'The decimal separator is at the wrong place.', draw);
    },
  },
  {
    name: 'thousands-separator-read-as-decimal',
    share: 1.7,
    comes: 'by shop',
    canHappen: ({ amount }) => amount >= 1000,
    spoil: (offer, draw) => {
      // Some parsers keep the three digits after the point, others stop at two.
      const amount = roundCents(offer.amount / 1000, draw.pick([2, 3]));
      return reprice(offer, amount, 'The separator of thousands was read as a decimal point.', draw);
    },
  },
  {
    name: 'cut-at-thousands-space',
    share: 1.1,
    comes: 'by shop',
    canHappen: ({ amount }) => amount >= 1000,
    spoil: (offer, draw) => {
      const head = Math.floor(offer.amount / 1000);
      const amount = draw.chance(0.7) ? head : Math.max(1, Math.floor(offer.amount) % 1000);
      return reprice(offer, amount, 'The number was cut at the space between thousands and hundreds.', draw);
    },
  },
  {
    name: 'two-numbers-glued',
    share: 0.1,
    comes: 'alone',
    canHappen: ({ amount }) => amount < 1000,
    spoil: (offer, draw) => {
      const amount = Number(`${Math.round(offer.amount)}${renderMoney(offer.amount * draw.between(1.1, 1.6))}`);
      return reprice(offer, roundCents(amount, 2), 'The old and the new price were read as one number.', draw);
    },
  },
  {
    name: 'wrong-currency',
    share: 0.5,
    comes: 'by shop',
    canHappen: always,
    spoil: readOtherCurrency,
  },
];

function readUnitPrice(offer: Offer, per: number, draw: Draw): Offer {
  const contents = offer.product.quantity?.amount as number;
  const amount = Math.max(0.01, roundCents((offer.amount / contents) * per, 2));
  const read = reprice(offer, amount, `The unit price for ${per} ${offer.product.quantity?.unit} was read.`, draw);
  return per === 100 ? read : mention(read, 'perUnit', draw, 0.25, { m: showMoney(amount, offer.shop) });
}

/** A fee that is set in EUR. It never happens to equal the price. */
function chargeFee(offer: Offer, euros: number): number {
  const fee = roundCents(euros * offer.shop.country.rate, 2);
  return fee === offer.amount ? roundCents(fee + 0.5, 2) : fee;
}

/** The currency's name is wrong and the amount stays, or a page shows two amounts and the other one was read. */
function readOtherCurrency(offer: Offer, draw: Draw): Offer {
  const { currency } = offer.shop.country;
  if (currency !== 'EUR') return { ...offer, currency: 'EUR', why: `The amount is in ${currency}.` };
  const form = draw.fraction();
  if (form < 0.4) {
    const why = 'The amount in kuna or another second currency of the page was read.';
    return reprice(offer, roundCents(offer.amount * draw.pick([7.5345, 7.5345, 1.95583, 24.6]), 2), why, draw);
  }
  return { ...offer, currency: draw.pick(['USD', 'CZK', 'GBP', 'PLN', 'HUF', 'CHF']), why: 'The amount is in EUR.' };
}
