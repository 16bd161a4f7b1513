import * as z from 'zod';

const word = z.object({
  kind: z.enum(['change', 'read']).describe('A change that the service reported, or a whole read of the item'),
  value: z.string().nullable(),
  runId: z.string(),
  observedAt: z.string().optional().describe("The service's time of a change"),
  readAt: z.string().optional().describe('When we read it'),
  change: z.object({ id: z.string().nullable(), kind: z.string(), origin: z.string() }).optional(),
  place: z.object({ file: z.string(), line: z.number() }).optional().describe('Absent if the bytes are no longer kept'),
  raw: z.string().optional().describe('The text that the service sent'),
});

const value = z.object({
  column: z.string(),
  value: z.string().nullable(),
  how: z.enum(['change', 'read', 'computed', 'unknown']),
  by: word.optional(),
  note: z.string().optional(),
});

/** `why`: how the values of a row came about. */
export const whyResult = z.object({
  table: z.string(),
  key: z.string(),
  rows: z.array(z.array(value)),
  others: z.array(word).describe('What else was said about the column, newest first'),
  from: z.array(
    z.object({
      itemId: z.string(),
      siteId: z.string().nullable(),
      price: z.string().nullable(),
      currency: z.string().nullable(),
      isCounted: z.boolean(),
      behind: value.optional().describe('The value of the listing behind it, of the first ten listings'),
    }),
  ),
  damaged: z.array(z.string()),
});
