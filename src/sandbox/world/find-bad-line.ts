import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parse } from 'lossless-json';
import { item } from '../../api/contract.js';

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
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    if (text.trim() === '') continue;
    const reason = findFault(text, ids);
    if (reason !== null) return { line, reason };
  }
  return line === 0 ? { line: 1, reason: 'the file is empty' } : null;
}

function findFault(text: string, ids: Set<bigint>): string | null {
  let value: unknown;
  try {
    value = parse(text, null, parseExactNumber);
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
  if (ids.has(parsed.data.id)) return `the id ${parsed.data.id} occurred before`;
  ids.add(parsed.data.id);
  return null;
}

/** An integer that a double can't hold stays exact, as the contract expects it. */
function parseExactNumber(text: string): number | bigint {
  const value = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}
