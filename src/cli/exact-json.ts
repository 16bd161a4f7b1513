import { LosslessNumber, parse } from 'lossless-json';
import { RawJson } from './json-text.js';

/** JSON for clients that parse numbers as doubles, which are exact only for integers of up to 53 bits. */
export type ExactJson = null | boolean | number | string | ExactJson[] | { [name: string]: ExactJson };

/**
 * Converts a report to JSON for clients that would round large numbers. Every 64-bit integer and decimal becomes a
 * string, whatever its size, and so does every number in text that is already JSON. Other finite numbers stay numbers.
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
