import * as z from 'zod';

const word = z.object({
  kind: z.enum(['change', 'read']).describe('A change that the service reported, or a full read of the item'),
  value: z.string().nullable(),
  runId: z.string(),
  observedAt: z.string().optional().describe('When the change was observed, according to the service'),
  readAt: z.string().optional().describe('When pricelake read the item'),
  change: z.object({ id: z.string().nullable(), kind: z.string(), origin: z.string() }).optional(),
  place: z
    .object({ file: z.string(), line: z.number() })
    .optional()
    .describe('Missing if the raw data has been deleted'),
  raw: z.string().optional().describe('The text that the service sent'),
});

const value = z.object({
  column: z.string(),
  value: z.string().nullable(),
  how: z.enum(['change', 'read', 'computed', 'unknown']),
  by: word.optional(),
  note: z.string().optional(),
});

/** The result of `why`. It states where the values of a row came from. */
export const whyResult = z.object({
  table: z.string(),
  key: z.string(),
  rows: z.array(z.array(value)),
  others: z.array(word).describe('Other values that the service reported for the column, newest first'),
  from: z.array(
    z.object({
      itemId: z.string(),
      siteId: z.string().nullable(),
      price: z.string().nullable(),
      currency: z.string().nullable(),
      isCounted: z.boolean(),
      behind: value
        .optional()
        .describe('The listing value that the computed value came from; set only for the first ten listings'),
    }),
  ),
  damaged: z.array(z.string()),
});
