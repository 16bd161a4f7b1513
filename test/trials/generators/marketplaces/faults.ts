import type { Draw } from '../../draw.js';
import { LANGUAGES } from '../../lexicon.js';
import type { BaseProduct } from '../../trial.js';
import type { Offer } from './offers.js';

/** What a fault does to an offer. A missing field leaves the item as it was. */
export interface Spoiled {
  amount?: number;
  currency?: string;
  title?: (title: string) => string;
  attributes?: Record<string, unknown>;
  seenDaysAgo?: number;
}

/** What is wrong together. A listing alone is wrong without its copies; for the last three, copies repeat the fault. */
type Scope = 'listing' | 'site' | 'offer' | 'seller' | 'product';
type Spoil = (offer: Offer, draw: Draw, base: readonly BaseProduct[]) => Spoiled;
type Rule = (offer: Offer) => boolean;
/** `share` is in percent of the listings that the fault can happen to. */
const define = (name: string, share: number, scope: Scope, canHappen: Rule, why: string, spoil: Spoil) => {
  return { name, share, scope, canHappen, why, spoil };
};
export type Fault = ReturnType<typeof define>;

// Words by language, in the order of `LANGUAGES`. In those of lots, # stands for the count.
const USED = `rabljeno/2. klasa|B-Ware/Zustand: gut|2. volba/použité|powystawowy/stan bdb
  |ricondizionato/usato|second main/reconditionné|pre-owned/open box/VG+|tweedekans/gebruikt`;
const LOTS = '# kom/karton|#er/Karton|# ks|# szt./zgrzewka|conf. da #|lot de #|x#/multipack|#-pack/doos';
const PARTS = 'futrola za|Hülle für/nur OVP|náhradní díl|etui do|ricambio|housse pour|case for/box only|hoes voor';
const FROM = 'od|ab|od|od|da|à partir de|from|vanaf';
const OLD = '2023|Gen 1|V1|(2022)|Mk I|2023|Gen 1|V1';

/** A seller states a fault in the title, only in an attribute, or not at all. */
function state(words: string, inTitle: number, { site }: Offer, draw: Draw, count = 1): Spoiled {
  const choices = words.split('|')[LANGUAGES.indexOf(site.country.language)] as string;
  const word = draw.pick(choices.trim().split('/')).replace('#', String(count));
  const luck = draw.fraction();
  if (luck < inTitle) return { title: (title) => (words === PARTS ? `${word} ${title}` : `${title} ${word}`) };
  return luck < inTitle + 0.25
    ? { attributes: { [words === USED ? draw.pick(['condition', 'stav', 'état']) : 'info']: word } }
    : {};
}

const euros = ({ amount, rate }: Offer) => amount / rate;
const always = () => true;
const isCheap: Rule = (offer) => euros(offer) < 50;
const isDurable: Rule = (offer) => offer.product.quantity === null && euros(offer) > 30;
const isCopy: Rule = ({ site }) => site.isAggregator;
const isForeign: Rule = ({ seller, currency }) => seller.country.currency !== currency;
const isForeignCopy: Rule = ({ site, currency }) => site.isAggregator && currency !== site.country.currency;

/** Multiplies by a factor that is log-uniform in the bounds, and may state why in words. */
function scale(low: number, high: number, words: string | null = null, inTitle = 0.35): Spoil {
  return (offer, draw) => ({
    ...(words === null ? {} : state(words, inTitle, offer, draw)),
    amount: offer.amount * low * (high / low) ** draw.fraction(),
  });
}

const sellLot: Spoil = (offer, draw) => {
  const count = draw.pick([2, 3, 4, 6, 6, 6, 10, 12, 12, 24]);
  return { ...state(LOTS, 0.4, offer, draw, count), amount: offer.amount * count * draw.between(0.75, 1) };
};
const hijack: Spoil = (offer, draw, base) => {
  const others = Array.from({ length: 12 }, () => draw.pick(base));
  const far = others.find(({ price }) => Math.abs(Math.log(Number(price) / euros(offer))) > 0.35);
  if (far === undefined) return { amount: offer.amount * 3 };
  return { amount: Number(far.price) * offer.rate, ...(draw.chance(0.4) ? { title: () => far.title } : {}) };
};
const age: Spoil = ({ amount }, draw) => {
  const factor = draw.chance(0.6) ? draw.between(1.06, 1.9) : draw.between(0.6, 0.94);
  return { amount: amount * factor, ...(draw.chance(0.4) ? { seenDaysAgo: draw.between(10, 200) } : {}) };
};
const end: Spoil = ({ amount }, draw) => ({
  amount: amount * draw.logNormal(0.25),
  attributes: draw.pick([{ stock: 0 }, { availability: 'OutOfStock' }, {}, {}]),
});
const glue: Spoil = ({ amount }, draw) => {
  const old = Math.floor(amount * draw.between(1.1, 1.6));
  return { amount: Number(draw.chance(0.5) ? `${old}${amount}` : `${old}99${Math.round(amount * 100)}`) };
};
const park: Spoil = ({ amount }, draw) => ({
  amount: draw.pick([amount * 5, amount * 10, amount * 10, amount + 9999]),
});
const addShipping: Spoil = ({ amount, rate }, draw) => ({ amount: amount + draw.pick([2.99, 3.9, 4.95, 6.9]) * rate });
const readPercent: Spoil = (_, draw) => ({ amount: draw.pick([5, 10, 15, 20, 25, 30, 40, 50, 70]) });
const relabel: Spoil = ({ site }) => ({ currency: site.country.currency });
const keepHome: Spoil = (offer) => ({ amount: euros(offer) * offer.seller.country.rate });
const untax: Spoil = ({ amount, seller, site }, draw) => ({
  amount: amount / (1 + draw.pick([seller, site]).country.vat),
  ...(draw.chance(0.2) ? { attributes: { vat: 'excl.' } } : {}),
});

/**
 * No public count of such faults exists, so the shares follow from how each arises. Sellers' customs (used goods, lots, net
 * prices) last until someone complains, so they are frequent and strike much of a seller. Copies age, so one in twenty is
 * stale. Bots and parsers fail loudly and are repaired within days, so their faults are rare but extreme.
 */
export const MARKETPLACE_FAULTS: Fault[] = [
  define('runaway-up', 0.4, 'offer', always, 'Two repricing bots outbid each other', scale(1.5, 80)),
  define('runaway-down', 0.3, 'offer', always, 'Repricing bots undercut each other', scale(0.01, 0.6)),
  define('parked-price', 0.6, 'seller', always, 'The seller is away and asks a price that nobody pays', park),
  define('hijacked', 0.8, 'product', ({ product }) => product.gtin !== null, 'Another product has this code', hijack),
  define('accessory', 0.8, 'offer', isDurable, 'A part, listed as the product', scale(0.02, 0.25, PARTS, 0.45)),
  define('used', 4, 'seller', isDurable, 'Sold used, returned or refurbished', scale(0.4, 0.92, USED)),
  define('lot', 2.6, 'seller', isCheap, 'The price of several units', sellLot),
  define('merged-generation', 1.8, 'product', isDurable, 'An older generation, same code', scale(0.45, 0.85, OLD)),
  define('smallest-option', 1, 'listing', always, 'The page preselects its cheapest option', scale(0.2, 0.8)),
  define('lead-in-price', 0.4, 'listing', always, 'Holds only under conditions', scale(0.05, 0.85, FROM, 0.1)),
  define('with-shipping', 1.5, 'seller', isCheap, 'The price includes shipping', addShipping),
  define('net-price', 1.2, 'seller', always, 'The price lacks value-added tax', untax),
  define('home-currency', 5, 'seller', isForeign, "An amount in the currency of the seller's country", keepHome),
  define('relabeled', 5, 'site', isForeignCopy, 'The aggregator labels an amount with its own currency', relabel),
  define('cached-price', 5, 'listing', isCopy, 'The seller has changed the price since it was copied', age),
  define('ended', 1, 'offer', always, 'The offer has ended and is still listed', end),
  define('lost-point', 0.25, 'listing', ({ amount }) => amount % 1 !== 0, '12,99 was read as 1299', scale(100, 100)),
  define('cut-thousands', 2, 'listing', ({ amount }) => amount >= 1000, '1.299 was read as 1.3', scale(0.001, 0.001)),
  define('saving-as-price', 0.2, 'listing', always, 'The amount saved was read as the price', scale(0.05, 0.6)),
  define('percent-as-price', 0.15, 'listing', always, 'A discount in percent was read as the price', readPercent),
  define('glued-prices', 0.12, 'listing', always, 'Two prices were read as one number', glue),
];
