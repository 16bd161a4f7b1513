import { createDraw, type Draw } from '../../draw.js';
import type { BaseProduct } from '../../trial.js';

// `rate` is in units of the currency for 1 EUR; `level` is what prices are here if the European average is 1.
const COUNTRIES = (
  [
    ['hr', 'hr', 'EUR', 1, 0.25, 1.02],
    ['de', 'de', 'EUR', 1, 0.19, 0.95],
    ['ch', 'de', 'CHF', 0.93, 0.081, 1.18],
    ['cz', 'cs', 'CZK', 24.3, 0.21, 0.97],
    ['pl', 'pl', 'PLN', 4.25, 0.23, 0.92],
    ['it', 'it', 'EUR', 1, 0.22, 1],
    ['fr', 'fr', 'EUR', 1, 0.2, 1.04],
    ['nl', 'nl', 'EUR', 1, 0.21, 1],
    ['gb', 'en', 'GBP', 0.87, 0.2, 1.03],
    ['hu', 'en', 'HUF', 385, 0.27, 0.96],
  ] as const
).map(([code, language, currency, rate, vat, level]) => ({ code, language, currency, rate, vat, level }));

/** An honest offer. Its copies at aggregators have the same price and the same `key`. */
export type Offer = ReturnType<typeof listMarketplaceOffers>[number];

export const roundMoney = (amount: number, currency: string) =>
  currency === 'HUF' ? Math.max(1, Math.round(amount)) : Math.max(0.01, Math.round(amount * 100) / 100);

/** The price next to the amount that a seller likes to show: 12.99, 12.90 or 13, and now and then any cents at all. */
function setPricePoint(amount: number, currency: string, draw: Draw): number {
  const ending = draw.pick([0, 0.01, 0.01, 0.05, 0.1, null, null]);
  return roundMoney(ending === null || amount < 5 ? amount : Math.round(amount) - ending, currency);
}

function drawTail(draw: Draw): [number, string] {
  const luck = draw.fraction();
  if (luck < 0.03) return [draw.between(0.5, 0.82), 'A real bargain: the seller clears the stock'];
  if (luck < 0.06) return [draw.between(1.25, 2.1), 'A real premium price, for service or delivery today'];
  return [1, 'The ordinary price of this seller'];
}

/** All offers as they would be without any fault, grouped by product, each followed by its copies. */
export function listMarketplaceOffers(base: readonly BaseProduct[], seed: number) {
  const draw = createDraw(seed);
  const inventName = () => draw.text('bdgklmnrstvz', 1) + draw.text('aeiou', 1) + draw.text('bdgklmnrst', 3);
  const sites = COUNTRIES.flatMap((country) =>
    [false, false, true].map((isAggregator) => ({ name: `${inventName()}.${country.code}`, isAggregator, country })),
  ).map((site, place) => ({ id: 700 + place, ...site }));
  // A few sellers are discounters or expensive throughout, and some leave out codes.
  const sellers = Array.from({ length: 260 }, (_, id) => {
    const level = draw.logNormal(draw.chance(0.1) ? 0.18 : 0.05);
    const [country, codes] = [draw.pick(COUNTRIES), draw.pick([1, 1, 0.95, 0.8])];
    return { id, name: inventName(), country, level, codes, weight: draw.logNormal(0.8) };
  });
  return base.flatMap((product, place) => {
    const typical = Number(product.price) * draw.logNormal(0.06);
    // The sellers of a product agree closely or hardly at all, and a few products are sold by very many.
    const sigma = 0.03 + 0.17 * draw.fraction() ** 2;
    const count = 2 + Math.floor(24 * draw.fraction() ** 2.5);
    const chosen = draw.sample(sellers, count, ({ weight }) => weight);
    return chosen.flatMap((seller) => {
      const country = draw.chance(0.2) ? draw.pick(COUNTRIES) : seller.country;
      // A cross-border seller may keep the currency of home and say so: that price is true.
      const { currency, rate } = draw.chance(0.12) ? seller.country : country;
      const [tail, why] = drawTail(draw);
      const euros = typical * country.level * seller.level * draw.logNormal(sigma) * tail;
      const amount = setPricePoint(euros * rate, currency, draw);
      const at = draw.pick(sites.filter((site) => site.country === country && !site.isAggregator));
      const copied = draw.chance(0.3) ? [country, ...(draw.chance(0.3) ? [draw.pick(COUNTRIES)] : [])] : [];
      const copies = sites.filter((site) => site.isAggregator && copied.includes(site.country));
      const offer = {
        product,
        seller,
        amount,
        currency,
        rate,
        why,
        key: `${place} ${seller.id}`,
      };
      return [at, ...copies].map((site) => ({ ...offer, site }));
    });
  });
}
