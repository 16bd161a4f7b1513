import { createDraw, type Draw } from '../draw.js';
import { LANGUAGES } from '../lexicon.js';
import type { BaseProduct, Trial, TrialItem } from '../trial.js';
import { MERCHANT_FAULTS, type MerchantFault } from './merchant-catalogs/faults.js';
import { listOffers, type Offer } from './merchant-catalogs/offers.js';

export { MERCHANT_FAULTS };

export const listCatalogOffers = (base: readonly BaseProduct[], seed: number) => listOffers(base, createDraw(seed));

/**
 * Offers as merchants' own catalogs give them: errors of master data, prices under conditions, and feeds that change
 * numbers, among honest prices that differ by country, kind of merchant and shop. The table of faults is in `faults.ts`.
 */
export function generateMerchantCatalogs(base: readonly BaseProduct[], seed: number): Trial {
  const draw = createDraw(~seed);
  const offers = listCatalogOffers(base, seed);
  const faults = assignFaults(offers, draw);
  const listings = offers.flatMap((offer) => {
    const fault = faults.get(offer);
    if (fault === undefined) return [{ offer, fault: null }];
    const spoiled = { offer: spoil(offer, fault, draw), fault: fault.name };
    return fault.name === 'forgotten-listing' ? [{ offer, fault: null }, spoiled] : [spoiled];
  });
  const items = listings.map(({ offer }, place) => renderItem(offer, 2n ** 53n + 7n + BigInt(place) * 3n));
  const truth = listings.map(({ offer: { why }, fault }, place) => ({ itemId: `${items[place]?.id}`, fault, why }));
  return { items, truth };
}

/** The least and the greatest part of a group that a fault reaches, by its origin. */
const REACH = { record: [1, 1], pool: [0.2, 0.7], custom: [0.1, 0.8], shop: [1, 1] } as const;

/** Each fault fills its share group by group, so that faults of a data pool or of a merchant's custom occur together. */
function assignFaults(offers: readonly Offer[], draw: Draw): Map<Offer, MerchantFault> {
  const assigned = new Map<Offer, MerchantFault>();
  for (const fault of MERCHANT_FAULTS) {
    const possible = offers.filter(fault.canHappen);
    const groups = new Map<unknown, Offer[]>();
    for (const offer of possible.filter((one) => !assigned.has(one))) {
      const key = { record: offer, pool: offer.product, custom: offer.merchant, shop: offer.merchant }[fault.origin];
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [offer]);
      else group.push(offer);
    }
    const [reached, spared]: [Offer[], Offer[]] = [[], []];
    const [least, greatest] = REACH[fault.origin];
    for (const group of draw.shuffle([...groups.values()])) {
      const reach = draw.between(least, greatest);
      for (const offer of group) (draw.fraction() < reach ? reached : spared).push(offer);
    }
    const quota = Math.round((possible.length * fault.share) / 100);
    for (const offer of [...reached, ...spared].slice(0, quota)) assigned.set(offer, fault);
  }
  return assigned;
}

function spoil(offer: Offer, fault: MerchantFault, draw: Draw): Offer {
  const changed = { ...offer, ...fault.change(offer, draw), why: fault.why };
  // Half of the faults are older than the last change of the price.
  if (changed.previous !== null && draw.chance(0.5)) changed.previous *= changed.amount / offer.amount;
  const words = fault.words?.[LANGUAGES.indexOf(offer.merchant.country.language)];
  const place = draw.fraction();
  if (words === undefined || place > 0.6) return changed;
  if (place > 0.5) return { ...changed, attributes: { note: words } };
  return { ...changed, title: place < 0.1 ? `${words} ${offer.title}` : `${offer.title} - ${words}` };
}

function renderItem({ product, merchant, amount, previous, why, ...listing }: Offer, id: bigint): TrialItem {
  const render = (money: number) => Math.max(0.01, money).toFixed(2);
  const previousPrice = previous === null ? null : render(previous);
  return { ...listing, id, url: `https://${merchant.site.host}/p/${id}`, price: render(amount), previousPrice };
}
