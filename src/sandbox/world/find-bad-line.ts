import { createReadStream } from 'node:fs';
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';
import { change, changeItem, item, siteRef } from '../../api/contract.js';
import { parseExactJson } from '../../api/exact-json.js';

/** Required fields. Other fields may be missing, because DuckDB then reads them as null. */
const NEEDED = {
  id: true,
  site: true,
  source: true,
  firstSeenAt: true,
  lastSeenAt: true,
  lastChangedAt: true,
} as const;
const loadableItem = item.partial().required(NEEDED);

export interface BadLine {
  line: number;
  reason: string;
}

/** Returns the first line that is not a valid Item (API §2) or that repeats an id; null if all lines are valid. */
export function findBadItem(path: string): Promise<BadLine | null> {
  const ids = new Set<bigint>();
  return findBadLine(path, (value) => {
    const parsed = loadableItem.safeParse(value);
    if (!parsed.success) return describeIssues('an Item', parsed.error.issues);
    const { id } = parsed.data;
    if (ids.has(id)) return `the id ${id} is already used on an earlier line`;
    ids.add(id);
    return null;
  });
}

/** The item of a change. Fields that services may omit are optional, and a title may be null, empty or missing. */
const loadableChangeItem = changeItem.partial({ url: true, currency: true }).extend({
  title: z.string().nullish(),
  site: siteRef.partial({ attribution: true }),
});
const loadableChange = change
  .partial({ price: true, previousPrice: true })
  .extend({ item: loadableChangeItem.nullish() });

/** Returns the first line that is not a valid Change (API §2) or that is out of order; null if all lines are valid. */
export function findBadChange(path: string, known: ReadonlySet<bigint>): Promise<BadLine | null> {
  let last: { id: bigint; at: string } | undefined;
  return findBadLine(path, (value) => {
    const parsed = loadableChange.safeParse(value);
    if (!parsed.success) return describeIssues('a Change', parsed.error.issues);
    const { id, observedAt, item: of } = parsed.data;
    if (last !== undefined && id <= last.id) return `the id ${id} follows ${last.id}: ids must increase`;
    if (last !== undefined && Date.parse(observedAt) < Date.parse(last.at)) {
      return `observedAt ${observedAt} follows ${last.at}: changes must be in chronological order`;
    }
    last = { id, at: observedAt };
    return of && !known.has(of.id) ? `the item ${of.id} is not among the Items` : null;
  });
}

/** Finds the first invalid line. @param judge returns what is wrong with a parsed line, or null */
async function findBadLine(path: string, judge: (value: unknown) => string | null): Promise<BadLine | null> {
  let line = 0;
  for await (const text of readLines(path)) {
    line++;
    if (text.trim() === '') continue;
    const reason = findFault(text, judge);
    if (reason !== null) return { line, reason };
  }
  return line === 0 ? { line: 1, reason: 'the file is empty' } : null;
}

/** Yields lines that end with a line feed. `node:readline` would also split at U+2028 inside a title. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function findFault(text: string, judge: (value: unknown) => string | null): string | null {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    return `not JSON (${error instanceof Error ? error.message : error})`;
  }
  return judge(value) ?? findInexactPrice(value);
}

function describeIssues(kind: string, issues: z.core.$ZodIssue[]): string {
  const faults = issues.slice(0, 3).map(({ path, message }) => `${path.join('.') || 'the line'}: ${message}`);
  return `not ${kind} (${faults.join('; ')})`;
}

/** Describes a price that DECIMAL(18,4) can't store without rounding; null if all prices fit. */
function findInexactPrice(value: unknown): string | null {
  for (const name of ['price', 'previousPrice']) {
    const price = (value as Record<string, unknown>)[name] ?? 0;
    const token = isLosslessNumber(price) ? price.value : String(price);
    if (!/^-?0*\d{1,14}(\.\d{1,4}0*)?$/.test(token) && !isExactDouble(price)) {
      return `${name}: ${token} has more than 14 digits before or 4 after the point`;
    }
  }
  return null;
}

/** True for numbers with an exponent, such as 1.5e2, whose value has at most four decimals. */
function isExactDouble(price: unknown): boolean {
  return typeof price === 'number' && Math.abs(price) < 1e14 && Number(price.toFixed(4)) === price;
}
