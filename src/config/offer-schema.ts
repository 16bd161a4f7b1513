import * as z from 'zod';
import { isTimeZone } from '../io/time-zone.js';

/**
 * Builds the schema of an object that rejects unknown keys. Messages start with a verb, after "it" (pipeline-fault.ts).
 */
export const mapping = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    // Unknown keys need no message here, because pipeline-fault.ts explains them.
    error: (issue) => (issue.code === 'invalid_type' ? `must contain ${Object.keys(shape).join(', ')}` : undefined),
  });

const WORDS = 'must be a list of at most 200 words or phrases, such as [second hand]';

const words = z
  .array(
    z
      .string(WORDS)
      .regex(/[\p{L}\p{N}]/u, 'must contain a letter or digit')
      .max(100, 'must have at most 100 characters'),
    WORDS,
  )
  .max(200, WORDS)
  .default([]);

/** The words in titles and conditions that mark an offer as used, refurbished or opened. */
export const wordLists = mapping({
  used: words,
  refurbished: words,
  opened: words,
}).prefault({});

const NAMES =
  'must be the name of an attribute, or a list of at most 20, each of 1 to 100 characters, without quotes, brackets, ?, * and \\';

const name = z.string(NAMES).regex(/^[^"'?*[\]\\\p{Cc}]{1,100}$/u, NAMES);

/** Accepts a name or a list of names. Returns a list. */
const names = z
  .union([name, z.array(name).max(20)], NAMES)
  .transform((value) => (typeof value === 'string' ? [value] : value));

const VALUES = 'must be a list of at most 200 values, such as [na lageru, 1, true]';

const values = z
  .array(
    z
      .union([z.string(), z.number(), z.boolean()], VALUES)
      .transform(String)
      .refine((value) => value.trim() !== '', 'must not be blank')
      .refine((value) => value.length <= 100, 'must have at most 100 characters'),
    VALUES,
  )
  .max(200, VALUES)
  .default([]);

const NAMES_BY_MEANING = {
  availability: names.optional(),
  shippingCost: names.optional(),
  condition: names.optional(),
  regularPrice: names.optional(),
  quantity: names.optional(),
  unit: names.optional(),
};

const attributeValues = mapping({ 'in stock': values, 'out of stock': values, 'on order': values })
  .refine((lists) => {
    const all = Object.values(lists).flatMap((list) => [...new Set(list.map((value) => value.toLowerCase()))]);
    return new Set(all).size === all.length;
  }, 'must list each value under one meaning only')
  .prefault({});

/** Names of attributes, grouped by what they mean. An empty list means that no attribute has this meaning. */
export const attributeNames = mapping({ ...NAMES_BY_MEANING, values: attributeValues }).prefault({});

const ZONE = 'must be a time zone such as Europe/Zagreb';

/** The time zone in which analyses divide time into days. */
export const timeZone = z.string(ZONE).refine(isTimeZone, ZONE);

const REGION = 'must be a name of 1 to 100 characters';

/** The name of a group of websites. An index can be computed for each group. */
const region = z.string(REGION).trim().min(1, REGION).max(100, REGION);

const SHOPS = 'must map website ids, such as 12, to settings';

/** The settings for single websites, by website id. These settings take precedence over the general settings. */
export const shops = z
  .record(
    z.string().refine((id) => /^(0|[1-9]\d{0,18})$/.test(id) && BigInt(id) < 2n ** 63n, SHOPS),
    mapping({ attributes: attributeNames, timeZone: timeZone.optional(), region: region.optional() }),
    SHOPS,
  )
  .default({});
