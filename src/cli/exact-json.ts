import { LosslessNumber, parse } from 'lossless-json';
import { RawJson } from './json-text.js';

/** JSON for clients whose numbers have only 53 bits. */
export type ExactJson = null | boolean | number | string | ExactJson[] | { [name: string]: ExactJson };

/**
 * Converts a report to JSON for clients that would round large numbers. 64-bit integers and decimals become strings,
 * whatever their size, including numbers in text that is already JSON. Doubles and small integers stay numbers.
 */
export function toExactJson(value: unknown): ExactJson {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (value instanceof RawJson) return toExactJson(parse(value.text));
  if (value instanceof LosslessNumber) return value.value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return value.message;
  if (Array.isArray(value)) return value.map(toExactJson);
  if (value instanceof Map) return toExactJson(Object.fromEntries(value));
  const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function');
  return Object.fromEntries(members.map(([name, member]) => [name, toExactJson(member)]));
}
