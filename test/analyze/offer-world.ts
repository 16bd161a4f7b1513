/** A listed or removed offer as the derived tables see it; prices in units of 0.0001. */
export interface Offer {
  itemId: bigint;
  productId: string | null;
  siteId: bigint;
  units: bigint | null;
  currency: string | null;
  listed: boolean;
  firstSeen: number | null;
  title: string | null;
  brand: string | null;
  mpn: string | null;
  category: string | null;
}

export interface World {
  offers: Offer[];
  /** License text by site, null for sources that are not open data. */
  sites: Map<bigint, string | null>;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seedRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A world with difficult cases: ties, equal prices, an extreme price, the largest price, missing values, removed offers. */
export function makeWorld(seed: number): World {
  const random = seedRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const sites = new Map<bigint, string | null>();
  const texts = [null, null, 'CC BY 4.0: Open Prices', 'Licence Ouverte 2.0', 'CC BY 4.0: Open Prices'];
  for (let id = 1n; id <= 9n; id += 1n) sites.set(id, pick(texts));
  const offers: Offer[] = [];
  const base = new Map<string, number>();
  for (let i = 0; i < 400; i += 1) {
    const productId = random() < 0.05 ? null : `p${Math.floor(random() * 40)}`;
    const level = base.get(productId ?? '') ?? Math.floor(random() * 500_000) + 1;
    base.set(productId ?? '', level);
    offers.push({
      itemId: BigInt(2 ** 53) + BigInt(i * 7),
      productId,
      siteId: BigInt(1 + Math.floor(random() * 9)),
      units: pickUnits(random, level),
      currency: random() < 0.04 ? null : pick(['EUR', 'EUR', 'EUR', 'PLN']),
      listed: random() > 0.1,
      firstSeen: random() < 0.05 ? null : Math.floor(random() * 20),
      title: random() < 0.1 ? null : `title ${i}`,
      brand: random() < 0.5 ? null : `brand ${i}`,
      mpn: random() < 0.5 ? null : `mpn ${i}`,
      category: random() < 0.5 ? null : `category ${i}`,
    });
  }
  return { offers, sites };
}

function pickUnits(random: () => number, level: number): bigint | null {
  const dice = random();
  if (dice < 0.05) return null;
  if (dice < 0.08) return 0n;
  if (dice < 0.35) return BigInt(level);
  if (dice < 0.4) return BigInt(level) * 1000n;
  if (dice < 0.42) return 999_999_999_999_999_999n;
  return BigInt(Math.max(1, Math.floor(level * (0.8 + 0.4 * random()))));
}
