/** Types on the wire that zod's own types don't express. The OpenAPI document is generated from their metadata. */
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * An int64 as a bigint. Accepts the values of the exact JSON parser: a safe integer as number, a larger one as bigint.
 * Refuses fractions, strings and rounded numbers.
 */
export const int64 = z
  .union([z.bigint(), z.number().int()])
  .transform((value) => BigInt(value))
  .refine((value) => value >= INT64_MIN && value <= INT64_MAX, 'outside of int64')
  .meta({ type: 'integer', format: 'int64' });

export const int32 = z.number().int().meta({ format: 'int32' });

const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)?$/;

/** A time as ISO 8601 text in UTC, because JavaScript's Date would cut the microseconds. */
export const dateTime = z
  .string()
  .refine((text) => UTC_DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'not a date-time in UTC')
  .meta({ format: 'date-time' });

/** Converts a bigint or LosslessNumber, which the exact parser returns for numbers that a double can't hold. */
export function toDouble(value: unknown): unknown {
  // LosslessNumber's own valueOf throws on overflow; this returns infinity, which zod refuses.
  if (isLosslessNumber(value)) return Number(value.value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A decimal, rounded to a double. Only for answers that people read or tests compare: tables use the raw text. */
export const decimal = z.preprocess(toDouble, z.number()).meta({ type: 'number' });
