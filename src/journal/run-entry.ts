import * as z from 'zod';
import { findNameFault, quotePath } from '../io/inner-path.js';
import { CHANGE_ORIGINS, RUN_MODES } from '../tables/table.js';

/** A 64-bit integer as decimal text, because many JSON parsers round large numbers. */
export const int64Text = z
  .string()
  .regex(/^-?\d+$/)
  .transform((text) => BigInt(text));

/** The service's counters for the current month; null if they are unknown. */
export const counted = z.strictObject({ apiCalls: int64Text, exportRows: int64Text, resetsAt: z.string() }).nullable();

/** A plain file name, so that a journal from another machine can't refer to files outside its folder. */
export const fileName = z.string().superRefine((name, context) => {
  const fault = findNameFault(name);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: `the name ${quotePath(name)} ${fault}` });
});

/** The id of a dataset that is read separately; undefined for all datasets that the key can read. */
export type Dataset = bigint | undefined;

const dataset = int64Text.optional();

/** The SHA-256 digest of the bytes from the previous entry's end in the same file to `end`. */
const range = { sha256: z.string() };

/** A downloaded page of items, whose last byte in the file is at `end`. */
const itemPage = { file: fileName, rows: z.number(), end: z.number(), readAt: z.string(), dataset, ...range };

const attempt = { shard: fileName, attempt: z.number() };

export const note = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** Declares an entry that is written after a call. It records how many calls the process has made. */
export const asked = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, calls: z.number() });

/**
 * An entry of a run's journal. It is written after its bytes are on disk. Bytes without an entry are downloaded again.
 */
export const runEntry = z.discriminatedUnion('type', [
  note('begin', {
    runNumber: int64Text,
    runId: fileName,
    at: z.string(),
    pipeline: z.string(),
    /** The feed cursor before the run; null if the lake has no cursor. */
    cursorFrom: int64Text.nullable(),
    /** Ids of the datasets that the run copies; omitted if it copies all datasets that the key can read. */
    datasets: z.array(int64Text).optional(),
  }),
  note('try', { at: z.string() }),
  /** `refused` is the number of the process's calls without status 200. */
  asked('calls', { refused: z.number() }),
  /** The service's counters when a process starts, and after the run's calls. */
  asked('usage.before', { counted }),
  asked('usage.after', { counted }),
  asked('decision', {
    mode: z.enum(RUN_MODES),
    reason: z.string(),
    added: z.array(int64Text).optional(),
    /** The id of a change before the cursor, after which the feed is read again. */
    overlap: int64Text.optional(),
  }),
  /** The method by which a process copies all items or reads changed items in full, and why it was chosen. */
  asked('chosen', { what: z.enum(['copy', 'hydration']), way: z.string(), reason: z.string() }),
  /** The time at which rows were first computed. Later attempts reuse it for sites, rejects and removed items. */
  note('normalize', {
    at: z.string(),
    /** The same time by the service's clock; null if its responses don't show the time. */
    serviceAt: z.string().nullable(),
  }),
  /** The row counts, which must add up. Fixed before publishing, because later attempts find some rows in place. */
  note('tally', { received: int64Text, written: int64Text, rejected: int64Text, deduplicated: int64Text }),
  note('held', { checks: z.array(z.string()) }),
  note('waived', { at: z.string(), checks: z.array(z.string()) }),
  note('end', { at: z.string() }),
  /** The state of the service before full rows were read. */
  asked('watermark', {
    cursor: int64Text.nullable(),
    /** The id after which the last hour of changes starts; omitted if the feed is read from further back. */
    from: int64Text.optional(),
    changedAt: z.string().nullable(),
    items: int64Text,
    /** The number of items in each dataset that was counted separately. */
    counts: z.array(z.strictObject({ dataset: int64Text, items: int64Text })).optional(),
    at: z.string(),
  }),
  /** The exports for a full copy (API §4, /export): one for all items, or one per shard. */
  asked('shards', {
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
  }),
  /** From this entry on, the service counts and bills the rows of the export, even if it is interrupted. */
  asked('export.begin', {
    ...attempt,
    readAt: z.string(),
    announced: int64Text,
    overage: z.boolean(),
    /** The maximum number of overage blocks that the service may bill for it. */
    blocks: int64Text,
  }),
  note('export.segment', {
    ...attempt,
    file: fileName,
    bytes: z.number(),
    rows: z.number(),
    fileSha256: z.string(),
  }),
  /** An export that the service cut at the monthly limit. Its rows are billed and kept, but it isn't a full copy. */
  asked('export.cut', { ...attempt, announced: int64Text, landed: int64Text, matching: z.string() }),
  asked('export.done', { ...attempt, announced: int64Text, landed: int64Text }),
  /** The newest change before the feeds of several datasets are read, and the end of each of these feeds. */
  asked('feed.bound', { newest: int64Text, at: z.string() }),
  asked('feed.part', { dataset, cursor: int64Text }),
  asked('feed.page', {
    dataset,
    after: int64Text,
    nextCursor: int64Text,
    hasMore: z.boolean(),
    rows: z.number(),
    /** The number of changes whose item is null; omitted if there are none. */
    unnamed: z.number().optional(),
    end: z.number(),
    ...range,
  }),
  asked('feed.done', { cursor: int64Text, complete: z.boolean(), at: z.string() }),
  /** The source of a website's most recently seen item, and when it was seen; null without listed items. */
  asked('probe.site', { site: int64Text, source: int64Text.nullable(), seenAt: z.string().nullable() }),
  asked('probe.done', {}),
  /** Changes from a source other than the feed, and the key of the delivery that contained them. */
  note('source.rows', {
    source: z.string(),
    origin: z.enum(CHANGE_ORIGINS),
    file: fileName,
    key: fileName,
    rows: z.number(),
    end: z.number(),
    ...range,
  }),
  /** All pending changes of the source are downloaded. */
  note('source.done', {
    source: z.string(),
    /** The calls that downloaded the changes before the run, as counted by pricelake and by the service. */
    spent: z.strictObject({ made: z.number(), counted: int64Text }).optional(),
    remark: z.string().optional(),
  }),
  /** A poll for items that changed since a time (null for all items), and the time of the newest change. */
  note('poll.round', { since: z.string().nullable(), newest: z.string().nullable(), dataset }),
  asked('poll.page', itemPage),
  asked('poll.done', { dataset }),
  /** The counts from /facets to compare a poll with, and whether the service had returned removed items by then. */
  asked('listing.counts', { dataset, answer: z.string(), returnsRemovals: z.boolean() }),
  /** The reads to make if the counts don't agree: changes since the poll or the given pages, and then single items. */
  asked('listing.plan', {
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
  }),
  asked('listing.page', itemPage),
  /** The end of a read: its files, and the number of items by the service's count; null if not all pages were read. */
  asked('listing.read', { dataset, files: z.array(fileName), total: int64Text.nullable() }),
  asked('listing.gone', { itemId: int64Text }),
  asked('listing.acted', { dataset }),
  /** The maximum number of items that may no longer be listed, and why that is unknown. */
  asked('listing.done', { unknown: int64Text, reason: z.string() }),
  asked('products.page', itemPage),
  asked('products.done', { whole: z.boolean() }),
  asked('sample.page', itemPage),
  /** The end of the sample, and the sampled items for which the service returned 404. */
  asked('sample.done', { missing: z.array(int64Text) }),
  /** An export of changed items in place of their pages. Its rows have entries of type hydrate.page. */
  asked('hydrate.export', { dataset, announced: int64Text, overage: z.boolean(), blocks: int64Text }),
  /**
   * `page` is the number of a page of changed items, omitted for single items and for segments of exports. A segment
   * has the checksum of its whole file; other entries have that of their range.
   */
  asked('hydrate.page', {
    ...itemPage,
    sha256: z.string().optional(),
    fileSha256: z.string().optional(),
    page: z.number().optional(),
  }).refine(({ sha256, fileSha256 }) => (sha256 === undefined) !== (fileSha256 === undefined), {
    message: 'it has no checksum',
  }),
  asked('hydrate.done', {}),
  /** `changes` in the feed omit values, so the run reads all changed items in full. */
  z.strictObject({ type: z.literal('partial') }),
  /** Items are read individually, because pages showed older values than the feed. At most once per run. */
  asked('hydrate.again', { items: z.number() }),
  /** `locked` is the number of datasets that the plan doesn't include, omitted if the plan wasn't read. */
  asked('datasets', { readAt: z.string(), answer: z.string(), locked: z.number().optional() }),
  /** The /facets response after a full copy. */
  asked('facets', { answer: z.string() }),
]);

export type RunEntry = z.infer<typeof runEntry>;
export type EntryOf<Type extends RunEntry['type']> = Extract<RunEntry, { type: Type }>;

export interface Part<State> {
  start: State;
  step(state: State, entry: RunEntry): State;
}
