import { listOutliers, sortAscending } from './slow-figures.js';

/** An offer of one product and currency; prices in units of 0.0001, packs as unit and quantity in millionths of it. */
export interface JudgedOffer {
  itemId: number;
  siteId: number;
  units: bigint;
  unitsBefore?: bigint | undefined;
  daysUnseen: number;
  usualCurrency: string;
  pack?: { unit: 'kg' | 'l' | 'piece'; millionths: number } | undefined;
}

const FILLERS = ['1234', '12345', '123456', '1111', '11111', '9999', '99999', '9999.99', '99999.99'].map((text) =>
  BigInt(Math.round(Number(text) * 10_000)),
);

/** Findings by item, decided offer by offer with loops. */
export function judgeSlowly(offers: readonly JudgedOffer[], currency: string): Map<number, string[]> {
  const usual = findUsualPack(offers);
  const own = offers.map((offer) => ({
    offer,
    isNothing: offer.units <= 100n,
    isForeign: offer.usualCurrency !== currency,
    isStale: offer.daysUnseen > 14,
    isOtherPack: usual !== undefined && isOtherPack(tellingPack(offer), usual),
    isFiller: FILLERS.includes(offer.units),
    isJump:
      offer.units > 0n && (offer.unitsBefore ?? 0n) > 0n && isScale(Number(offer.units) / Number(offer.unitsBefore)),
  }));
  const comparable = own.filter((one) => !(one.isNothing || one.isForeign || one.isStale || one.isOtherPack));
  const reference = comparable.filter((one) => !one.isFiller && !one.isJump);
  const sites = [...new Set(reference.map(({ offer }) => offer.siteId))];
  const priceOf = (site: number) =>
    sortAscending(reference.filter(({ offer }) => offer.siteId === site).map(({ offer }) => offer.units))[0] ?? 0n;
  const all = sites.map(priceOf);
  const findings = new Map<number, string[]>(
    own.map((one) => {
      const { units, siteId, itemId } = one.offer;
      const others = sortAscending(sites.filter((site) => site !== siteId).map(priceOf));
      const middles = [others[(others.length - 1) >> 1], others[others.length >> 1]].filter(
        (price) => price !== undefined,
      );
      const ratio =
        middles.length === 0 || units <= 0n
          ? undefined
          : Number(units) / Math.sqrt(middles.map(Number).reduce((a, b) => a * b, 1));
      const isFar = ratio !== undefined && !(ratio >= 0.5 && ratio <= 2);
      const isPlaceholder = one.isNothing || (one.isFiller && isFar);
      const isScaled =
        !isPlaceholder &&
        !one.isOtherPack &&
        ((one.isJump && (ratio === undefined || isFar)) ||
          (middles.length > 0 && middles.every((middle) => isScale(Number(units) / Number(middle)))));
      const isOutlier =
        !isPlaceholder &&
        !isScaled &&
        !one.isOtherPack &&
        units > 0n &&
        listOutliers(all, [units]).length > 0 &&
        !(reference.includes(one) && isClearance(priceOf(siteId), all));
      const findings = {
        placeholder: isPlaceholder,
        currency: one.isForeign,
        stale: one.isStale,
        scale: isScaled,
        pack: one.isOtherPack,
        outlier: isOutlier,
      };
      return [itemId, Object.entries(findings).flatMap(([name, found]) => (found ? [name] : []))];
    }),
  );
  return addDuplicates(offers, findings);
}

/** Of the offers of a shop without a finding, all but the cheapest are duplicates. */
function addDuplicates(offers: readonly JudgedOffer[], findings: Map<number, string[]>): Map<number, string[]> {
  const inOrder = offers.filter(({ itemId }) => findings.get(itemId)?.length === 0);
  for (const { itemId, siteId } of inOrder) {
    const [cheapest] = inOrder
      .filter((other) => other.siteId === siteId)
      .sort((a, b) => (a.units === b.units ? a.itemId - b.itemId : a.units < b.units ? -1 : 1));
    if (cheapest?.itemId !== itemId) findings.set(itemId, ['duplicate']);
  }
  return findings;
}

/** Most prices are equal, this one is lower, and another shop has it within 5 %. */
function isClearance(price: bigint, all: readonly bigint[]): boolean {
  const sorted = sortAscending([...all]);
  const middle = sorted[sorted.length >> 1] as bigint;
  const twins = sorted.filter((one) => 105n * price >= 100n * one && 105n * one >= 100n * price);
  return 2 * sorted.filter((one) => one === middle).length > sorted.length && price < middle && twins.length > 1;
}

/** Within 10^0.2 of 10, 100, 1,000 or of a tenth, a hundredth, a thousandth. */
function isScale(ratio: number): boolean {
  const times = ratio < 1 ? 1 / ratio : ratio;
  return [10, 100, 1000].some((power) => times >= power / 10 ** 0.2 && times <= power * 10 ** 0.2);
}

/** One piece tells nothing. */
function tellingPack({ pack }: JudgedOffer): JudgedOffer['pack'] {
  return pack?.unit === 'piece' && pack.millionths === 1_000_000 ? undefined : pack;
}

function findUsualPack(offers: readonly JudgedOffer[]): JudgedOffer['pack'] {
  const counts = new Map<string, { pack: NonNullable<JudgedOffer['pack']>; count: number }>();
  for (const offer of offers) {
    const pack = tellingPack(offer);
    if (pack === undefined) continue;
    const key = JSON.stringify(pack);
    counts.set(key, { pack, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const order = ['kg', 'l', 'm', 'piece'];
  return [...counts.values()].sort(
    (a, b) =>
      b.count - a.count ||
      a.pack.millionths - b.pack.millionths ||
      order.indexOf(a.pack.unit) - order.indexOf(b.pack.unit),
  )[0]?.pack;
}

function isOtherPack(pack: JudgedOffer['pack'], usual: NonNullable<JudgedOffer['pack']>): boolean {
  if (pack === undefined) return false;
  if (pack.unit !== usual.unit) return pack.unit !== 'piece' && usual.unit !== 'piece';
  return Math.abs(pack.millionths - usual.millionths) > 0.05 * usual.millionths;
}
