import { createReadStream } from 'node:fs';
import { isLosslessNumber } from 'lossless-json';
import { item } from '../../api/contract.js';
import { parseExactJson } from '../../api/exact-json.js';

/** What may be null may be left out as well: DuckDB reads both alike. */
const loadableItem = item.partial({
  title: true,
  brand: true,
  mpn: true,
  gtin: true,
  price: true,
  previousPrice: true,
  priceChangedAt: true,
  currency: true,
  url: true,
  image: true,
  attributes: true,
  category: true,
  datasets: true,
  removedAt: true,
});

/** The first line of an NDJSON file that is no Item (section 2), or null when all are. Lines count from 1. */
export async function findBadLine(path: string): Promise<{ line: number; reason: string } | null> {
  let line = 0;
  const ids = new Set<bigint>();
  for await (const text of readLines(path)) {
    line++;
    if (text.trim() === '') continue;
    const reason = findFault(text, ids);
    if (reason !== null) return { line, reason };
  }
  return line === 0 ? { line: 1, reason: 'the file is empty' } : null;
}

/** Only a newline ends a line: node:readline would take U+2028 within a title for one. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function findFault(text: string, ids: Set<bigint>): string | null {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    return `not JSON (${error instanceof Error ? error.message : error})`;
  }
  const parsed = loadableItem.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues
      .slice(0, 3)
      .map(({ path, message }) => `${path.join('.') || 'the line'}: ${message}`);
    return `not an Item (${faults.join('; ')})`;
  }
  const inexact = findInexactPrice(value);
  if (inexact !== null) return inexact;
  if (ids.has(parsed.data.id)) return `the id ${parsed.data.id} occurred before`;
  ids.add(parsed.data.id);
  return null;
}

/** Money is kept in DECIMAL(18,4): a price of more digits would be served rounded. */
function findInexactPrice(value: unknown): string | null {
  for (const name of ['price', 'previousPrice']) {
    const price = (value as Record<string, unknown>)[name] ?? 0;
    const token = isLosslessNumber(price) ? price.value : String(price);
    if (!/^-?0*\d{1,14}(\.\d{1,4}0*)?$/.test(token) && !isExactDouble(price)) {
      return `${name}: ${token} has more than 14 digits before or 4 behind the point`;
    }
  }
  return null;
}

/** Exponents such as 1.5e2 are fine where the number itself fits. */
function isExactDouble(price: unknown): boolean {
  return typeof price === 'number' && Math.abs(price) < 1e14 && Number(price.toFixed(4)) === price;
}
