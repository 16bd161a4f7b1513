import type { Draw } from '../../draw.js';
import { roundCents, setPrice } from './money.js';
import type { Offer } from './offers.js';
import type { Product } from './products.js';
import type { ShopType } from './shops.js';
import { nameKey, type Phrase, pickPhrase } from './words.js';

/** A kind of fault: how often it occurs, and what it does to an honest offer. */
export interface FaultKind {
  name: string;
  /** The part of the offers that it can happen to, in percent. */
  share: number;
  /**
   * A fault comes alone, on many pages of one shop (its scraper or its habit), or in several shops for one product (they
   * copied one distributor's list).
   */
  comes: 'alone' | 'by shop' | 'by product';
  /** The types of shops where its groups occur, if there are any. Alone it occurs in all. */
  likelyIn?: readonly ShopType[];
  canHappen(offer: Offer): boolean;
  spoil(offer: Offer, draw: Draw, market: Market): Offer;
}

/** Other offers and products that a fault may confuse with this one. */
export interface Market {
  /** An offer of another product, of the same shop if it has one. */
  findNeighbor(offer: Offer, draw: Draw): Offer;
  /** Another product of the same brand, else any, at a similar price if one is at hand. */
  findSibling(offer: Offer, draw: Draw): Product;
}

export const always = (): boolean => true;
export const costs = (euros: number) => (offer: Offer) => offer.product.euros >= euros;
export const isContained = ({ product: { quantity } }: Offer) => quantity !== null && quantity.unit !== 'piece';

/**
 * The offer with the words in its title or in an attribute, if the page has them: `probability` says how often. Pages of
 * shops without attributes have no other place than the title.
 */
export function mention(offer: Offer, phrase: Phrase, draw: Draw, probability: number, values = {}): Offer {
  if (!draw.chance(probability)) return offer;
  const { language } = offer.shop.country;
  const words = pickPhrase(phrase, language, draw, values);
  if (offer.shop.attributes === 'none' || draw.chance(0.55))
    return { ...offer, title: attach(offer.title, words, draw) };
  const key = CONDITIONS.has(phrase) ? 'condition' : draw.pick(['note', 'offer'] as const);
  return { ...offer, attributes: { ...offer.attributes, [nameKey(key, language)]: words } };
}

const CONDITIONS = new Set<Phrase>(['used', 'refurbished', 'opened', 'display', 'damaged', 'shortDated']);

function attach(title: string | null, words: string, draw: Draw): string {
  if (title === null) return words;
  const form = draw.fraction();
  if (form < 0.35) return `${title} ${words}`;
  if (form < 0.55) return `${title} - ${words}`;
  if (form < 0.75) return `${title} (${words})`;
  return form < 0.9 ? `${title}, ${words}` : `${words.toUpperCase()} ${title}`;
}

/**
 * The offer at another amount. Its previous price is, as it happens, the true one, a wrong one as well, or unknown. An amount
 * that equals the true price by chance gets a cent more, because the true price would not be a fault.
 */
export function reprice(offer: Offer, wrong: number, why: string, draw: Draw): Offer {
  const amount = wrong === offer.amount ? roundCents(wrong + 0.01, 2) : wrong;
  const past = draw.fraction();
  const age = Math.min(offer.firstSeen, draw.between(0, 60));
  if (past < 0.3) return { ...offer, amount, why, previous: offer.amount, priceAge: age };
  if (past < 0.6) return { ...offer, amount, why, previous: null, priceAge: null };
  const previous = offer.previous === null ? null : roundCents((offer.previous / offer.amount) * amount, 2);
  return { ...offer, amount, why, previous };
}

/** The offer at a multiple of its price, rounded as the shop rounds, unless that would undo the difference. */
export function scale(offer: Offer, factor: number, why: string, draw: Draw): Offer {
  const exact = roundCents(offer.amount * factor, 2);
  const rounded = setPrice(exact, offer.shop);
  const isUndone = factor < 1 ? rounded >= offer.amount : rounded <= offer.amount;
  return reprice(offer, isUndone ? Math.max(0.01, exact) : rounded, why, draw);
}
