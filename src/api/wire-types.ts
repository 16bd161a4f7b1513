/** Zod types for JSON values that zod's own types don't describe. Their metadata appears in the OpenAPI document. */
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * An int64 as a bigint. Accepts the integers that parseExactJson returns: safe integers as numbers, and larger integers
 * as bigints. Rejects fractions, strings, and numbers above 2^53, which may be rounded.
 */
export const int64 = z
  .union([z.bigint(), z.number().int()])
  .transform((value) => BigInt(value))
  .refine((value) => value >= INT64_MIN && value <= INT64_MAX, 'outside of int64')
  .meta({ type: 'integer', format: 'int64' });

export const int32 = z.number().int().meta({ format: 'int32' });

const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)?$/;

/** A UTC time as ISO 8601 text. A JavaScript Date would lose the microseconds. */
export const dateTime = z
  .string()
  .refine((text) => UTC_DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'not a date-time in UTC')
  .meta({ format: 'date-time' });

/** Converts the exact parser's bigints and LosslessNumbers to numbers. Returns other values unchanged. */
export function toDouble(value: unknown): unknown {
  // LosslessNumber's valueOf throws if the number is too large. Number() returns Infinity, which zod rejects.
  if (isLosslessNumber(value)) return Number(value.value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A decimal, rounded to a double. Used for responses that people read or tests compare; tables use the raw text. */
export const decimal = z.preprocess(toDouble, z.number()).meta({ type: 'number' });
