import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { PricelakeError } from '../io/errors.js';
import type { UserMatch } from './pipeline.js';

/** A line of the matches file. */
interface MatchedPair {
  one: string;
  two: string;
  line: number;
}

const MAX_LINES = 100_000;
const COLUMNS = ['product', 'other', 'match'];
const HINT =
  "A matches file is CSV with a header: product,other,match; e.g. acme-r1,4006381333931,yes. Leave match empty if you haven't decided.";

/**
 * Reads which products the user has declared to match or not to match. If a matches b and b matches c, all three are
 * one product. Ignores additional columns, and lines without a decision.
 * @throws PricelakeError `config` for the first invalid line
 */
export async function readUserMatches(file: string): Promise<UserMatch[]> {
  const yes: MatchedPair[] = [];
  const no: MatchedPair[] = [];
  for await (const { match, ...pair } of readPairs(file)) {
    if (match === 'yes') yes.push(pair);
    if (match === 'no') no.push(pair);
  }
  const groups = joinPairs(yes);
  const standsFor = (product: string) => groups.get(product) ?? product;
  const contradiction = no.find(({ one, two }) => standsFor(one) === standsFor(two));
  if (contradiction !== undefined) {
    const { one, two, line } = contradiction;
    const lines = findPath(yes, one, two).map((pair) => pair.line);
    const which = lines.length === 1 ? `line ${lines[0]} lists` : `lines ${lines.join(', ')} list`;
    throw new PricelakeError('config', `${file}:${line}: ${one} and ${two} don't match, but ${which} them as a match`, {
      hint: `Change the match column on line ${[...lines, line].join(' or ')}.`,
    });
  }
  return [
    ...[...groups].filter(([one, two]) => one !== two).map(([one, two]) => ({ ...order(one, two), isMatch: true })),
    ...dropRepeated(no.map(({ one, two }) => ({ ...order(one, two), isMatch: false }))),
  ];
}

async function* readPairs(file: string): AsyncGenerator<MatchedPair & { match: string }> {
  const refuse = (line: number, what: string) =>
    new PricelakeError('config', `${file}:${line}: ${what}`, { hint: HINT });
  let places: number[] | undefined;
  let count = 0;
  try {
    for await (const { bytes, line } of readCsvRecords(file)) {
      const cells = parseCsvRecord(bytes.toString('utf8'));
      if (cells === undefined) throw refuse(line, "is not valid CSV: a quote isn't closed");
      if (places === undefined) {
        const names = cells.map((name) => name?.trim().toLowerCase());
        places = COLUMNS.map((name) => names.indexOf(name));
        const missing = COLUMNS.filter((_, index) => places?.[index] === -1);
        if (missing.length > 0) throw refuse(line, `missing column ${missing.join(', ')}`);
        continue;
      }
      const [one = '', two = '', match = ''] = places.map((place) => cells[place]?.trim() ?? '');
      if (match === '') continue;
      count++;
      if (count > MAX_LINES) throw refuse(line, `has more than ${MAX_LINES.toLocaleString('en')} decisions`);
      const pair = { one: toProduct(one), two: toProduct(two), line, match: match.toLowerCase() };
      if (!['yes', 'no'].includes(pair.match)) throw refuse(line, `match "${match}" is not yes, no or empty`);
      if (pair.one === '' || pair.two === '') throw refuse(line, 'needs two products');
      if (pair.one === pair.two) throw refuse(line, `lists ${pair.one} twice`);
      yield pair;
    }
  } catch (cause) {
    if (cause instanceof PricelakeError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(cause);
    throw new PricelakeError('config', `${file}: can't read matches: ${reason}`, { hint: HINT }, { cause });
  }
}

/** Removes leading zeros from a GTIN. Returns any other product id unchanged. */
function toProduct(text: string): string {
  return /^\d+$/u.test(text) ? text.replace(/^0+(?=\d)/u, '') : text;
}

/** Maps each product to the product that represents its group of matching products. */
function joinPairs(pairs: readonly MatchedPair[]): Map<string, string> {
  const parents = new Map<string, string>();
  const find = (product: string): string => {
    let root = product;
    for (let next = parents.get(root); next !== undefined && next !== root; next = parents.get(root)) root = next;
    for (let at = product; at !== root; ) {
      const next = parents.get(at) ?? root;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { one, two } of pairs) {
    const [first, second] = [find(one), find(two)];
    const { productId: below, otherId: above } = order(first, second);
    parents.set(above, above);
    parents.set(below, above);
  }
  return new Map([...parents.keys()].map((product) => [product, find(product)]));
}

/** Sorts two products. A GTIN comes before a key of brand and part number, which contains a hyphen. */
function order(one: string, two: string): { productId: string; otherId: string } {
  const rank = (product: string) => `${product.includes('-') ? 1 : 0}${product}`;
  return rank(one) < rank(two) ? { productId: two, otherId: one } : { productId: one, otherId: two };
}

function dropRepeated(matches: UserMatch[]): UserMatch[] {
  return [...new Map(matches.map((one) => [`${one.productId} ${one.otherId}`, one])).values()];
}

/** Returns the shortest chain of matches that connects two products. */
function findPath(pairs: readonly MatchedPair[], from: string, to: string): MatchedPair[] {
  const near = new Map<string, { pair: MatchedPair; next: string }[]>();
  for (const pair of pairs) {
    for (const [at, next] of [
      [pair.one, pair.two],
      [pair.two, pair.one],
    ] as const) {
      near.set(at, [...(near.get(at) ?? []), { pair, next }]);
    }
  }
  const paths = new Map<string, MatchedPair[]>([[from, []]]);
  for (const [at, path] of paths) {
    if (at === to) return path;
    for (const { pair, next } of near.get(at) ?? []) if (!paths.has(next)) paths.set(next, [...path, pair]);
  }
  return [];
}
