import { readAnalysis } from '../../src/sql/model.js';
import { createSeeded } from '../seeded.js';
import { runHere } from './pricelake.js';
import { openWatchWorld, type Past, type PastListing, recordListings } from './watch-world.js';

export const TODAY = 28;
export const OWN_SITE = 1;
export const SHOPS = ['Mine', 'Drava', 'Sava', 'Mura', 'Kupa', 'Una'];
export const CREDIT = 'Open Prices, CC BY 4.0';
const random = createSeeded(35);
const cents = (price: number) => Math.round(price * 100) / 100;

export function makeGtin(n: number): string {
  const digits = `40123456${String(n).padStart(4, '0')}`;
  const sum = [...digits].reduce((total, digit, k) => total + Number(digit) * (k % 2 === 0 ? 1 : 3), 0);
  return digits + ((10 - (sum % 10)) % 10);
}

/** A price for some days, then another price, a wrong price, or no price for some days. */
function makePast(base: number): Past {
  const past: Past = [];
  let last: number | null | undefined;
  for (let day = 1 + random.integer(6); day < TODAY; day += 1 + random.integer(8)) {
    const dice = random.fraction();
    let price: number | null = cents(base * (0.8 + random.integer(9) / 20));
    if (dice < 0.15 && last !== undefined) price = null;
    else if (dice < 0.2) price = cents(base / 100);
    else if (dice < 0.25) price = base / 8 + 0.0001;
    if (price === last) continue;
    past.push([day, price === null ? null : Math.round(price * 10_000) / 10_000]);
    last = price;
  }
  return past;
}

export const listings: PastListing[] = [];
export const GTINS = Array.from({ length: 60 }, (_, n) => makeGtin(n));
for (const [n, gtin] of GTINS.entries()) {
  const base = 4 + random.integer(60);
  // Of the first, only the own shop; of the second, a placeholder alone; of the third, nothing is left; the fourth has
  // one competitor, and the eighth two currencies.
  const shops = n === 0 ? 1 : n === 7 ? SHOPS.length : n === 1 || n === 3 ? 2 : 1 + random.integer(SHOPS.length);
  for (let k = n === 1 || n === 3 ? 1 : 0; k < shops; k += 1) {
    for (let copy = random.fraction() < 0.15 ? 2 : 1; copy > 0; copy -= 1) {
      const isTwoCurrencies = n > 3 && n % 4 === 3;
      const currency = isTwoCurrencies && (n === 7 ? k > 2 : random.fraction() < 0.4) ? 'PLN' : 'EUR';
      let past = makePast(currency === 'PLN' ? base * 4 : base);
      if (n === 1) past = [[2, 0.01]];
      if (n === 2) past = past.filter(([, price]) => price !== null).concat([[TODAY, null]]);
      if (n === 3) past = [[3 + copy, base]];
      if (past.length < (n === 2 ? 2 : 1)) continue;
      const itemId = 9_007_199_254_741_000 + listings.length * 2;
      listings.push({
        ...{ itemId, gtin, siteId: k + 1, shop: SHOPS[k] ?? '', currency, past },
        attribution: k === 2 ? CREDIT : null,
        url: random.fraction() < 0.1 ? null : `https://shop${k + 1}.example/${itemId}`,
        isBegun: random.fraction() < 0.85,
      });
    }
  }
}
export const recorded = recordListings(listings, TODAY);
/** Files of one worker share it, so none closes it: the folder of all tests is removed at the end. */
export const world = await openWatchWorld(recorded, TODAY);

export interface Line {
  line: number;
  gtin: string;
  price: number;
  currency: string;
  lowest: number | null;
  highest: number | null;
}

export const lines: Line[] = [];
for (const gtin of [...GTINS, makeGtin(9000)]) {
  for (const currency of gtin === GTINS[7] ? ['EUR', 'PLN'] : [random.pick(['EUR', 'EUR', 'EUR', ''])]) {
    const offered = listings.filter((one) => one.gtin === gtin && one.currency === (currency || 'EUR'));
    const prices = offered.flatMap(({ past }) => past.map(([, price]) => price ?? 5)).sort((a, b) => a - b);
    const middle = prices[prices.length >> 1] ?? 5;
    const near = (factor: number) => Math.max(0.01, Math.round(middle * factor * 10_000) / 10_000);
    const isBounded = gtin === GTINS[7] || random.fraction() > 0.2;
    const lowest = isBounded ? near(random.pick([0.85, 0.95, 1])) : null;
    const highest = random.fraction() < 0.6 ? null : Math.max(lowest ?? 0, near(random.pick([0.97, 1.1])));
    const price = random.fraction() < 0.8 ? cents(middle) : near(1.0037);
    lines.push({ line: lines.length + 2, gtin, price, currency, lowest, highest });
  }
}
export const file = await world.list('mine.csv', [
  'product,price,currency,lowest,highest',
  ...lines.map((one) => [one.gtin, one.price, one.currency, one.lowest ?? '', one.highest ?? ''].join(',')),
]);

export type Row = Record<string, unknown>;
interface Answer {
  rows?: Row[];
  error?: { code: string; facts: { rows: Row[]; products: number; hint?: string } };
}
export const own = ['--own-site', String(OWN_SITE)];
export async function readRows(...args: string[]): Promise<{ code: number | null; rows: Row[] }> {
  const { code, stdout } = await world.watch(file, '--json', ...args);
  // Ids beyond 2^53 are text here.
  const answer = JSON.parse(stdout.replaceAll(/"((?:basis_)?item_id)":(\d+)/gu, '"$1":"$2"')) as Answer;
  return { code, rows: answer.rows ?? answer.error?.facts.rows ?? [] };
}

interface Judged {
  itemId: string;
  gtin: string;
  siteId: number;
  currency: string;
  price: number;
  isCounted: boolean;
  findings: string[];
}
const { stdout: judgedText } = await runHere([
  ...['query', '--lake', world.lake, '--json'],
  `SELECT item_id::VARCHAR AS "itemId", product_id AS gtin, site_id AS "siteId", currency, price, is_counted AS "isCounted", findings
   FROM (${readAnalysis('all_offers')})`,
]);
export const judged = (JSON.parse(judgedText) as { rows: Judged[] }).rows;
