import type { Draw } from '../../draw.js';
import { groupBy } from './group-by.js';
import type { FaultKind } from './kinds.js';
import type { Offer } from './offers.js';

/**
 * Decides which offers get which fault. Each kind takes its share of the offers that it can happen to, as far as earlier kinds left
 * them free. The kinds that can happen to the fewest offers choose first.
 */
export function chooseFaults(offers: readonly Offer[], kinds: readonly FaultKind[], draw: Draw): Map<Offer, FaultKind> {
  const chosen = new Map<Offer, FaultKind>();
  const candidates = kinds.map((kind) => ({ kind, possible: offers.filter((offer) => kind.canHappen(offer)) }));
  candidates.sort((a, b) => a.possible.length - b.possible.length);
  for (const { kind, possible } of candidates) {
    const quota = Math.round((possible.length * kind.share) / 100);
    const free = possible.filter((offer) => !chosen.has(offer));
    for (const offer of pickVictims(free, kind, draw).slice(0, quota)) chosen.set(offer, kind);
  }
  return chosen;
}

/** The free offers in the order in which the fault takes them. A fault that comes in groups takes about two thirds so. */
function pickVictims(free: readonly Offer[], { comes, likelyIn }: FaultKind, draw: Draw): Offer[] {
  const alone = draw.shuffle(free);
  if (comes === 'alone') return alone;
  const groups = groupBy<unknown, Offer>(alone, ({ shop, product }) => (comes === 'by shop' ? shop : product));
  const isLikely = ([first]: Offer[]) => first !== undefined && (likelyIn?.includes(first.shop.type) ?? true);
  const together = draw
    .shuffle([...groups.values()].filter(isLikely))
    .flatMap((group) => takeGroup(group, comes, draw));
  // Two from the groups, then one by itself, until the quota is full. Without groups, all come alone.
  const mixed = together.flatMap((offer, place) => (place % 2 === 1 ? [offer, alone[place >> 1] as Offer] : [offer]));
  return [...new Set([...mixed, ...alone])];
}

/** A shop is hit on most of its pages. Of a product's shops fewer than half copied the same list. */
function takeGroup(group: readonly Offer[], comes: FaultKind['comes'], draw: Draw): Offer[] {
  if (comes === 'by shop') return group.slice(0, Math.ceil(group.length * draw.between(0.3, 0.7)));
  return group.length < 6 ? [] : group.slice(0, Math.min(5, Math.floor(group.length * 0.4)));
}
