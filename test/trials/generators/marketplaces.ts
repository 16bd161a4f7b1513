import { createDraw, type Draw } from '../draw.js';
import { translateTitle } from '../lexicon.js';
import { type BaseProduct, TRIAL_NOW, type Trial, type TrialItem } from '../trial.js';
import { type Fault, MARKETPLACE_FAULTS, type Spoiled } from './marketplaces/faults.js';
import { listMarketplaceOffers, type Offer, roundMoney } from './marketplaces/offers.js';

/** Offers of sellers on marketplaces and the copies of them at aggregators. About five in six are honest. */
export function generateMarketplaces(base: readonly BaseProduct[], seed: number): Trial {
  const offers = listMarketplaceOffers(base, seed);
  const draw = createDraw(seed + 7919);
  const faults = assignFaults(offers, base, draw);
  const trial: Trial = { items: [], truth: [] };
  for (const [place, offer] of offers.entries()) {
    const { fault = null, spoiled = {} } = faults.get(offer) ?? {};
    const id = 9_210_000_000_000_000n + BigInt(place * 9 + draw.integer(9));
    trial.items.push(renderItem(offer, spoiled, id, draw));
    trial.truth.push({ itemId: String(id), fault: fault?.name ?? null, why: fault?.why ?? offer.why });
  }
  return trial;
}

/** The rarest faults choose first, so that the frequent ones leave them enough listings. */
function assignFaults(offers: readonly Offer[], base: readonly BaseProduct[], draw: Draw) {
  const assigned = new Map<Offer, { fault: Fault; spoiled: Spoiled }>();
  const plans = MARKETPLACE_FAULTS.map((fault) => ({ fault, eligible: offers.filter(fault.canHappen) }));
  for (const { fault, eligible } of plans.sort((a, b) => a.eligible.length - b.eligible.length)) {
    let quota = Math.round((eligible.length * fault.share) / 100);
    for (const group of draw.shuffle(groupListings(eligible, fault.scope))) {
      // A seller is wrong in one country, in one department or throughout.
      const part = Math.ceil(group.length * draw.pick([0.3, 0.6, 1]));
      for (const listings of draw.shuffle(group).slice(0, part)) {
        if (listings.length > quota || listings.some((offer) => assigned.has(offer))) continue;
        quota -= listings.length;
        const spoiled = fault.spoil(listings[0] as Offer, draw, base);
        for (const offer of listings) assigned.set(offer, { fault, spoiled });
      }
    }
  }
  return assigned;
}

function groupBy<T>(list: readonly T[], find: (member: T) => unknown): T[][] {
  const groups = new Map<unknown, T[]>(list.map((member) => [find(member), []]));
  for (const member of list) groups.get(find(member))?.push(member);
  return [...groups.values()];
}

/** The groups that a fault strikes together. Each consists of lists of the listings that must have the same price. */
function groupListings(offers: readonly Offer[], scope: Fault['scope']): Offer[][][] {
  const isSingle = scope === 'listing' || scope === 'site';
  const units = groupBy(offers, (offer) => (isSingle ? offer : offer.key));
  return groupBy(units, (listings) => {
    const offer = listings[0] as Offer;
    return scope === 'listing' || scope === 'offer' ? offer : offer[scope];
  });
}

const NEW_WORDS = 'new|Neu|nový|nowy|nuovo|neuf|novo|nieuw|NewCondition|Neu & OVP'.split('|');
// Words of honest titles that resemble those of faults.
const TAILS = '24h|2 Jahre Garantie|NEU & OVP|-20%|TOP|100% original|Nr. 1|gratis Versand|2026'.split('|');

function writeTitle({ product, site, seller }: Offer, draw: Draw): string {
  const drop = (text: string | null) => (draw.chance(0.15) && title.replace(text ?? '', '').trim()) || title;
  let title = draw.chance(0.75) ? translateTitle(product.title, site.country.language) : product.title;
  for (const part of [product.brand, product.quantity]) title = drop(part);
  if (draw.chance(0.12)) title = draw.shuffle(title.split(' ')).join(' ');
  if (draw.chance(0.15)) title = title.toUpperCase();
  return draw.chance(0.17) ? `${title} ${draw.pick([...TAILS, `| ${seller.name}`])}` : title;
}

/** Without a GTIN an offer needs a part number, so the model in the title serves as one. */
function writeCodes({ product, seller }: Offer, draw: Draw): Pick<TrialItem, 'mpn' | 'gtin'> {
  const model = /\b[A-Z]{2,}-?\d{2,}\w*/.exec(product.title)?.[0] ?? null;
  if (product.gtin === null || !draw.chance(seller.codes)) return { mpn: model, gtin: null };
  return { mpn: draw.chance(0.5) ? model : null, gtin: product.gtin.padStart(draw.chance(0.04) ? 14 : 0, '0') };
}

function renderItem(offer: Offer, spoiled: Spoiled, id: bigint, draw: Draw): TrialItem {
  const { product, seller, site } = offer;
  const { seenDaysAgo = draw.fraction() ** 8 * 9, currency = offer.currency } = spoiled;
  const amount = spoiled.amount === undefined ? offer.amount : roundMoney(spoiled.amount, currency);
  const ago = (days: number) => new Date(TRIAL_NOW - Math.round(days * 86_400_000)).toISOString();
  const first = seenDaysAgo + 500 * draw.fraction() ** 1.5 + 0.1;
  const changed = draw.between(seenDaysAgo, first);
  // A price that jumped leaves the true one behind, if it jumped since the service first saw the offer.
  const previous = roundMoney(offer.amount * (draw.chance(0.5) ? 1 : draw.logNormal(0.12)), currency);
  const hasChanged = draw.chance(0.45) && previous !== amount;
  const title = writeTitle(offer, draw);
  // Some marketplaces state that everything is new, and only honest offers mean it.
  const attributes = Object.entries({
    [draw.pick(['seller', 'Verkäufer', 'prodejce', 'vendeur'])]: seller.name,
    stock: 1 + draw.integer(60),
    shipping: draw.pick([0, 2.99, 4.9, '3-5 days', 'gratis']),
    condition: draw.pick(NEW_WORDS),
  }).filter(() => draw.chance(0.35));
  return {
    id,
    title: spoiled.title?.(title) ?? title,
    brand: draw.chance(0.93) ? product.brand : null,
    ...writeCodes(offer, draw),
    price: String(amount),
    previousPrice: hasChanged ? String(previous) : null,
    priceChangedAt: hasChanged ? ago(changed) : null,
    currency,
    url: `https://${site.name}.example/p/${id}?seller=${seller.id}`,
    image: null,
    attributes: { ...Object.fromEntries(attributes), ...spoiled.attributes },
    category: null,
    datasets: ['marketplaces'],
    site: { id: site.id, name: site.name, host: `${site.name}.example`, attribution: null },
    source: { modelId: site.id * 10, name: `${site.name} offers` },
    firstSeenAt: ago(first),
    lastSeenAt: ago(seenDaysAgo),
    lastChangedAt: ago(changed),
    removedAt: null,
  };
}
