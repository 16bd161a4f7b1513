import * as z from 'zod';
import { findNameFault, quotePath } from '../io/inner-path.js';

/** int64 as decimal text, because JSON's numbers can't hold it. */
export const int64Text = z
  .string()
  .regex(/^-?\d+$/)
  .transform((text) => BigInt(text));

/** A plain file name, so that a journal from another machine can't point out of its folder. */
export const fileName = z.string().superRefine((name, context) => {
  const fault = findNameFault(name);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: `the name ${quotePath(name)} ${fault}` });
});

/** A dataset that is asked for by itself; undefined: all that the key can read. */
export type Dataset = bigint | undefined;

const dataset = int64Text.optional();

/** SHA-256 of the bytes between the end of the entry before of the same file and `end`. */
const range = { sha256: z.string() };

/** A page of items, landed in a file that ends at byte `end` with it. */
const itemPage = {
  file: fileName,
  rows: z.number(),
  end: z.number(),
  readAt: z.string(),
  dataset,
  calls: z.number(),
  ...range,
};

/** An attempt at a shard of a snapshot. */
const attempt = { shard: fileName, attempt: z.number() };

/** Journal entries about questions to the service, and about landed answers. */
export const landedEntries = [
  /** The service's state before whole rows were read. */
  z.strictObject({
    type: z.literal('watermark'),
    cursor: int64Text.nullable(),
    /** The last hour of changes begins after it; absent if the feed is read from further back. */
    from: int64Text.optional(),
    changedAt: z.string().nullable(),
    items: int64Text,
    /** Items of each dataset that was asked for by itself. */
    counts: z.array(z.strictObject({ dataset: int64Text, items: int64Text })).optional(),
    at: z.string(),
    calls: z.number(),
  }),
  /** The exports that make a snapshot (section 4, /export): one, or a shard of it each. */
  z.strictObject({
    type: z.literal('shards'),
    shards: z.array(
      z.strictObject({
        name: fileName,
        status: z.enum(['all', 'active', 'removed']),
        site: int64Text.nullable(),
        dataset,
        rows: int64Text,
      }),
    ),
    reason: z.string(),
    calls: z.number(),
  }),
  /** The service counts and bills the rows of the export from here on, even if it breaks off. */
  z.strictObject({
    type: z.literal('export.begin'),
    ...attempt,
    readAt: z.string(),
    announced: int64Text,
    overage: z.boolean(),
    /** Most blocks of overage that it billed. */
    blocks: int64Text,
    calls: z.number(),
  }),
  z.strictObject({
    type: z.literal('export.segment'),
    ...attempt,
    file: fileName,
    bytes: z.number(),
    rows: z.number(),
    /** SHA-256 of the whole file. */
    fileSha256: z.string(),
  }),
  /** An export that the service cut at the monthly limit. Its rows are paid for and kept, but it is no copy. */
  z.strictObject({
    type: z.literal('export.cut'),
    ...attempt,
    announced: int64Text,
    landed: int64Text,
    matching: z.string(),
    calls: z.number(),
  }),
  z.strictObject({
    type: z.literal('export.done'),
    ...attempt,
    announced: int64Text,
    landed: int64Text,
    calls: z.number(),
  }),
  /** The feed's end before those of several datasets are read; then a dataset that was read to its end. */
  z.strictObject({ type: z.literal('feed.bound'), newest: int64Text, at: z.string(), calls: z.number() }),
  z.strictObject({ type: z.literal('feed.part'), dataset, cursor: int64Text, calls: z.number() }),
  z.strictObject({
    type: z.literal('feed.page'),
    dataset,
    after: int64Text,
    nextCursor: int64Text,
    hasMore: z.boolean(),
    rows: z.number(),
    /** Changes whose item is null; absent if all name it. */
    unnamed: z.number().optional(),
    end: z.number(),
    calls: z.number(),
    ...range,
  }),
  /** A webhook event, its changes copied. */
  z.strictObject({ type: z.literal('event'), key: fileName, rows: z.number(), end: z.number(), ...range }),
  z.strictObject({ type: z.literal('events.done') }),
  z.strictObject({
    type: z.literal('feed.done'),
    cursor: int64Text,
    complete: z.boolean(),
    at: z.string(),
    calls: z.number(),
  }),
  /** Histories of chosen items that the run has taken over. */
  z.strictObject({
    type: z.literal('backfill'),
    rows: z.number(),
    bytes: z.number(),
    ...range,
    /** Calls that brought them, by our count and by the service's. */
    made: z.number(),
    counted: int64Text,
    /** Items whose histories were not asked for yet, for lack of calls. */
    left: z.number(),
  }),
  /** Pages of items that changed since a time (null: all), and when the newest of them did. */
  z.strictObject({
    type: z.literal('poll.round'),
    since: z.string().nullable(),
    newest: z.string().nullable(),
    dataset,
  }),
  z.strictObject({ type: z.literal('poll.page'), ...itemPage }),
  z.strictObject({ type: z.literal('poll.done'), dataset, calls: z.number() }),
  /** Counts of /facets that a poll is compared with, and whether the service was seen to return removals by then. */
  z.strictObject({
    type: z.literal('listing.counts'),
    dataset,
    answer: z.string(),
    returnsRemovals: z.boolean(),
    calls: z.number(),
  }),
  /** Readings if they don't agree: changes since the poll, or these pages; then items one by one. */
  z.strictObject({
    type: z.literal('listing.plan'),
    dataset,
    news: z.boolean(),
    readings: z.array(
      z.strictObject({
        status: z.enum(['active', 'removed']),
        site: int64Text.nullable(),
        removals: int64Text.nullable(),
      }),
    ),
    limit: int64Text.nullable(),
    wanted: int64Text,
    calls: z.number(),
  }),
  z.strictObject({ type: z.literal('listing.page'), ...itemPage }),
  /** The end of a reading: its files, and the service's count of its items; null if not all pages were read. */
  z.strictObject({
    type: z.literal('listing.read'),
    dataset,
    files: z.array(fileName),
    total: int64Text.nullable(),
    calls: z.number(),
  }),
  /** An item that the service no longer shows (404). */
  z.strictObject({ type: z.literal('listing.gone'), itemId: int64Text, calls: z.number() }),
  z.strictObject({ type: z.literal('listing.acted'), dataset, calls: z.number() }),
  /** The most items whose listing is unknown, and why. */
  z.strictObject({
    type: z.literal('listing.done'),
    unknown: int64Text,
    reason: z.string(),
    calls: z.number(),
  }),
  z.strictObject({ type: z.literal('products.page'), ...itemPage }),
  z.strictObject({ type: z.literal('products.done'), whole: z.boolean(), calls: z.number() }),
  z.strictObject({ type: z.literal('sample.page'), ...itemPage }),
  /** Sampled items that the service does not show (404), and the end of the sample. */
  z.strictObject({ type: z.literal('sample.done'), missing: z.array(int64Text), calls: z.number() }),
  /** An export of changed items, instead of their pages; its rows are named by entries of hydrate.page. */
  z.strictObject({
    type: z.literal('hydrate.export'),
    dataset,
    announced: int64Text,
    overage: z.boolean(),
    blocks: int64Text,
    calls: z.number(),
  }),
  /**
   * `page` numbers a page of changed items; single reads and segments of exports have none. A segment has the checksum
   * of its whole file, everything else that of its range.
   */
  z
    .strictObject({
      type: z.literal('hydrate.page'),
      ...itemPage,
      sha256: z.string().optional(),
      fileSha256: z.string().optional(),
      page: z.number().optional(),
    })
    .refine(({ sha256, fileSha256 }) => (sha256 === undefined) !== (fileSha256 === undefined), {
      message: 'it has no checksum',
    }),
  z.strictObject({ type: z.literal('hydrate.done'), calls: z.number() }),
  /** Items are read one by one because a list showed less than the feed; once a run. */
  z.strictObject({ type: z.literal('hydrate.again'), items: z.number(), calls: z.number() }),
  z.strictObject({ type: z.literal('datasets'), readAt: z.string(), answer: z.string(), calls: z.number() }),
  /** Answer of /facets, asked after a complete copy. */
  z.strictObject({ type: z.literal('facets'), answer: z.string(), calls: z.number() }),
] as const;
