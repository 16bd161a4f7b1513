import { findFar, gradePrices, groupBy, sortAscending } from './slow-figures.js';

/** An offer of one product and currency; prices in units of 0.0001. */
export interface JudgedOffer {
  itemId: number;
  siteId: number;
  units: bigint;
  daysUnseen: number;
  usualCurrency: string;
  availability?: 'InStock' | 'OutOfStock' | undefined;
  condition?: 'new' | 'used' | undefined;
  title?: string | undefined;
  brand?: string | undefined;
}

/** The expected judgment of one product's offers. */
export interface Judgment {
  findings: Map<number, string[]>;
  doubts: Map<number, string[]>;
  /** Undefined if fewer than two shops have a price above zero. */
  grade: string | undefined;
}

const FILLERS = ['1234', '12345', '123456', '1111', '11111', '9999', '99999', '9999.99', '99999.99'].map((text) =>
  BigInt(Math.round(Number(text) * 10_000)),
);

/** Judges the offers of a product with loops. */
export function judgeSlowly(offers: readonly JudgedOffer[], currency: string): Judgment {
  const none = { findings: new Map(), doubts: new Map(), grade: undefined };
  if (offers.length < 2) return none;
  const findings = new Map(offers.map((one) => [one.itemId, listFacts(one, currency)]));
  const sound = offers.filter(({ itemId }) => findings.get(itemId)?.length === 0);
  const firsts = [...groupBy(sound, ({ siteId }) => String(siteId)).values()].map((own) => [...own].sort(compare)[0]);
  const real = firsts.flatMap((one) => (one === undefined || isFiller(one) ? [] : [one.units]));
  const isOff = findFar(real.length === 0 ? [] : [...real, ...real, ...real]);
  for (const one of sound) {
    if (isOff(one.units) && (isFiller(one) || real.length >= 3)) findings.set(one.itemId, [nameFar(one, real)]);
    else if (!firsts.includes(one)) findings.set(one.itemId, ['duplicate']);
  }
  const counted = sound.filter(({ itemId }) => findings.get(itemId)?.length === 0);
  const doubts = doubtEnds(offers, counted);
  return { findings, doubts, grade: gradeOffers(offers, counted, { findings, doubts }) };
}

function listFacts(offer: JudgedOffer, currency: string): string[] {
  return Object.entries({
    placeholder: offer.units <= 100n,
    currency: offer.usualCurrency !== currency,
    stale: offer.daysUnseen > 14,
    out_of_stock: offer.availability === 'OutOfStock',
    condition: offer.condition === 'used',
  }).flatMap(([name, isTrue]) => (isTrue ? [name] : []));
}

const isFiller = ({ units }: JudgedOffer) => FILLERS.includes(units);

/** The cheapest listing of a shop comes first, and a price that may fill a field last. */
const compare = (a: JudgedOffer, b: JudgedOffer): number => {
  if (isFiller(a) !== isFiller(b)) return isFiller(a) ? 1 : -1;
  return a.units === b.units ? a.itemId - b.itemId : a.units < b.units ? -1 : 1;
};

function nameFar(offer: JudgedOffer, real: bigint[]): string {
  if (isFiller(offer)) return 'placeholder';
  const sorted = sortAscending(real);
  const median = Number((sorted[(sorted.length - 1) >> 1] as bigint) + (sorted[sorted.length >> 1] as bigint)) / 2;
  const tens = Math.log10(Number(offer.units) / median);
  return Math.abs(tens - Math.round(tens)) <= 0.2 ? 'scale' : 'outlier';
}

/** Words of the lowest and the highest price that no other listing has. */
function doubtEnds(offers: readonly JudgedOffer[], counted: readonly JudgedOffer[]): Map<number, string[]> {
  const prices = sortAscending(counted.map(({ units }) => units));
  const ends = counted.filter(({ units }) => units === prices[0] || units === prices.at(-1));
  const doubts = new Map<number, string[]>();
  if (prices[0] === prices.at(-1)) return doubts;
  const brands = new Set(offers.map(({ brand }) => brand && toPlain(brand)));
  if (brands.size === 1 && !brands.has(undefined)) return doubts;
  for (const end of ends) {
    const others = offers.filter((one) => one !== end);
    const theirs = new Set(others.flatMap(listStems));
    const own = listStems(end);
    const ofBrand = stemsOf(end.brand, /[\p{L}\p{N}]{3,}/gu);
    if (own.length === 0) continue;
    if (!own.some((stem) => theirs.has(stem))) doubts.set(end.itemId, ['title']);
    else if (others.some(({ brand }) => brand !== undefined) && ofBrand.length > 0) {
      if (!ofBrand.some((stem) => theirs.has(stem))) doubts.set(end.itemId, ['brand']);
    }
  }
  return doubts;
}

const toPlain = (text: string) => text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '');
const stemsOf = (text: string | undefined, words: RegExp) =>
  [...toPlain(text ?? '').matchAll(words)].map(([word]) => word.slice(0, 4));
const listStems = ({ title, brand }: JudgedOffer) => [
  ...stemsOf(title, /\p{L}{3,}/gu),
  ...stemsOf(brand, /[\p{L}\p{N}]{3,}/gu),
];

function gradeOffers(
  offers: readonly JudgedOffer[],
  counted: readonly JudgedOffer[],
  { findings, doubts }: Omit<Judgment, 'grade'>,
): string | undefined {
  const priced = offers.filter(({ units }) => units > 0n);
  const shops = new Set(priced.map(({ siteId }) => siteId)).size;
  if (shops < 2) return undefined;
  const found = priced.flatMap(({ itemId }) => findings.get(itemId) ?? []);
  const isSound = doubts.size === 0 && found.every((finding) => finding === 'duplicate');
  const grade = gradePrices(sortAscending(counted.map(({ units }) => units)), { shops, isSound });
  return [...doubts.values()].some((names) => names.includes('title')) ? 'C' : grade;
}
