import * as z from 'zod';
import { parseDuration, parseSize } from './units.js';

/** Builds a schema for text that isn't empty. The error message starts with a verb, after "it" (pipeline-fault.ts). */
export const text = (meaning: string) => {
  const message = `must be ${meaning}`;
  return z.string(message).min(1, message);
};

export const place = (meaning: string) =>
  text(meaning).refine((path) => !path.includes('\0'), `must be ${meaning}, without a NUL character`);

const SIZE = 'must be a size such as 64MB or 1GB';
const DURATION = 'must be a duration such as 12h, 7d, 2w or 0';

/** Parses `7d`, `12h`, `2w` or `0` into milliseconds. */
export const duration = z
  .union([z.literal(0), z.string()], DURATION)
  .refine((value) => /^(0|\d{1,6}[hdw])$/.test(String(value)), DURATION)
  .transform((value) => parseDuration(String(value)) ?? 0);

const OVERLAP = 'must be a duration such as 15m or 2h, or 0';

/** Parses `15m`, `2h` or `0` into milliseconds. */
export const overlap = z
  .union([z.literal(0), z.string()], OVERLAP)
  .refine((value) => /^(0|[1-9]\d{0,3}m|[1-9]\d?h)$/.test(String(value)), OVERLAP)
  .transform((value) => parseDuration(String(value)) ?? 0);

/** Parses `64MB` or `1GB` into bytes. */
export const size = z
  .string(SIZE)
  .refine((text) => parseSize(text) !== undefined, SIZE)
  .transform((text) => parseSize(text) ?? 0);

const DAYS = 'must be a number of days such as 90d, or 0';

/** Parses `90d` or `0` into days. */
export const days = z
  .union([z.literal(0), z.string()], DAYS)
  .refine((value) => /^(0|\d{1,4}d)$/.test(String(value)), DAYS)
  .transform((value) => Number(String(value).replace('d', '')));
