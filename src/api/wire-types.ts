/** Types on the wire that zod's own types don't show. The OpenAPI document is made from their metadata. */
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * int64 → bigint. Takes the values of the exact JSON parser: a safe integer as number, a larger one as bigint. Refuses
 * a fraction, a string and a rounded number.
 */
export const int64 = z
  .union([z.bigint(), z.number().int()])
  .transform((value) => BigInt(value))
  .refine((value) => value >= INT64_MIN && value <= INT64_MAX, 'outside of int64')
  .meta({ type: 'integer', format: 'int64' });

export const int32 = z.number().int().meta({ format: 'int32' });

const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)?$/;

/** ISO 8601 in UTC, as text: JavaScript's Date would cut the microseconds. */
export const dateTime = z
  .string()
  .refine((text) => UTC_DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'not a date-time in UTC')
  .meta({ format: 'date-time' });

/** The exact parser returns a bigint or a LosslessNumber if a double cannot hold the digits. */
export function toDouble(value: unknown): unknown {
  // A LosslessNumber's own valueOf throws if the double would overflow; zod refuses the infinity instead.
  if (isLosslessNumber(value)) return Number(value.value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/**
 * Rounded to a double if it is longer. Only for answers that people read or tests compare: tables take the raw text.
 */
export const decimal = z.preprocess(toDouble, z.number()).meta({ type: 'number' });
