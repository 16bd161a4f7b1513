/** Values on the wire that zod's own types don't tell apart. Their metadata is what the OpenAPI document says of them. */
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * int64 on the wire → bigint. Takes what the exact JSON parser yields: a safe integer as number,
 * a larger one as bigint. A fraction, a string or a rounded number is refused, never coerced.
 */
export const int64 = z
  .union([z.bigint(), z.number().int()])
  .transform((value) => BigInt(value))
  .refine((value) => value >= INT64_MIN && value <= INT64_MAX, 'outside of int64')
  .meta({ type: 'integer', format: 'int64' });

/** int32 on the wire → number. */
export const int32 = z.number().int().meta({ format: 'int32' });

const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)?$/;

/** ISO 8601 date-time in UTC, as text: DuckDB types it, JavaScript's Date would cut the microseconds. */
export const dateTime = z
  .string()
  .refine((text) => UTC_DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'not a date-time in UTC')
  .meta({ format: 'date-time' });

/** The exact parser yields a bigint or a LosslessNumber where a double cannot hold the digits. */
export function toDouble(value: unknown): unknown {
  // A LosslessNumber's own valueOf throws where the double would overflow; zod refuses the infinity instead.
  if (isLosslessNumber(value)) return Number(value.value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/**
 * A decimal on the wire, rounded to a double where it is longer. Only for answers that people read or
 * tests compare: tables take the raw text.
 */
export const decimal = z.preprocess(toDouble, z.number()).meta({ type: 'number' });
