import * as z from 'zod';
import { findNameFault, quotePath } from '../io/inner-path.js';
import { CHANGE_ORIGINS, RUN_MODES } from '../tables/table.js';

/** int64 as decimal text, because JSON's numbers can't hold it. */
export const int64Text = z
  .string()
  .regex(/^-?\d+$/)
  .transform((text) => BigInt(text));

/** The service's count of this month; null: not known. */
export const counted = z.strictObject({ apiCalls: int64Text, exportRows: int64Text, resetsAt: z.string() }).nullable();

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
const itemPage = { file: fileName, rows: z.number(), end: z.number(), readAt: z.string(), dataset, ...range };

/** An attempt at a shard of a snapshot. */
const attempt = { shard: fileName, attempt: z.number() };

/** An entry of a type. */
export const note = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** An entry after a call, with the number of calls of the process so far. */
export const asked = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, calls: z.number() });

/**
 * A line of a run's journal. It is written after the bytes that it names are on disk; bytes that no line names are fetched
 * again.
 */
export const runEntry = z.discriminatedUnion('type', [
  note('begin', {
    runNumber: int64Text,
    runId: fileName,
    at: z.string(),
    pipeline: z.string(),
    /** Feed cursor before the run; null when the lake has none. */
    cursorFrom: int64Text.nullable(),
    /** Ids of the datasets that the run copies; absent: all that the key can read. */
    datasets: z.array(int64Text).optional(),
  }),
  note('try', { at: z.string() }),
  /** `refused` counts the process's calls that brought no 200. */
  asked('calls', { refused: z.number() }),
  /** The service's count at the beginning of a try, and after the run's calls. */
  asked('usage.before', { counted }),
  asked('usage.after', { counted }),
  /** The mode of the run, and why. A decision holds for all tries. */
  asked('decision', {
    mode: z.enum(RUN_MODES),
    reason: z.string(),
    /** Datasets that are new to the lake: these are copied whole. */
    added: z.array(int64Text).optional(),
    /** The feed is read again behind this change, which is before the cursor. */
    overlap: int64Text.optional(),
  }),
  /** The way by which a try copied all items, or read changed ones whole, and why. */
  asked('chosen', { what: z.enum(['copy', 'hydration']), way: z.string(), reason: z.string() }),
  /** The time at which rows were first made. Sites, rejects and removed items have this time in every try. */
  note('normalize', {
    at: z.string(),
    /** The same moment by the service's clock; null if its answers don't say. */
    serviceAt: z.string().nullable(),
  }),
  /** The row equation, settled before anything is published, because a later try finds some rows in place. */
  note('tally', { received: int64Text, written: int64Text, rejected: int64Text, deduplicated: int64Text }),
  note('held', { checks: z.array(z.string()) }),
  /** Gates that failed and that a person waived. */
  note('waived', { at: z.string(), checks: z.array(z.string()) }),
  note('end', { at: z.string() }),
  /** The service's state before whole rows were read. */
  asked('watermark', {
    cursor: int64Text.nullable(),
    /** The last hour of changes begins after it; absent if the feed is read from further back. */
    from: int64Text.optional(),
    changedAt: z.string().nullable(),
    items: int64Text,
    /** Items of each dataset that was asked for by itself. */
    counts: z.array(z.strictObject({ dataset: int64Text, items: int64Text })).optional(),
    at: z.string(),
  }),
  /** The exports that make a snapshot (section 4, /export): one, or a shard of it each. */
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
  /** The service counts and bills the rows of the export from here on, even if it breaks off. */
  asked('export.begin', {
    ...attempt,
    readAt: z.string(),
    announced: int64Text,
    overage: z.boolean(),
    /** Most blocks of overage that it billed. */
    blocks: int64Text,
  }),
  note('export.segment', {
    ...attempt,
    file: fileName,
    bytes: z.number(),
    rows: z.number(),
    /** SHA-256 of the whole file. */
    fileSha256: z.string(),
  }),
  /** An export that the service cut at the monthly limit. Its rows are paid for and kept, but it is no copy. */
  asked('export.cut', { ...attempt, announced: int64Text, landed: int64Text, matching: z.string() }),
  asked('export.done', { ...attempt, announced: int64Text, landed: int64Text }),
  /** The feed's end before those of several datasets are read; then a dataset that was read to its end. */
  asked('feed.bound', { newest: int64Text, at: z.string() }),
  asked('feed.part', { dataset, cursor: int64Text }),
  asked('feed.page', {
    dataset,
    after: int64Text,
    nextCursor: int64Text,
    hasMore: z.boolean(),
    rows: z.number(),
    /** Changes whose item is null; absent if all name it. */
    unnamed: z.number().optional(),
    end: z.number(),
    ...range,
  }),
  asked('feed.done', { cursor: int64Text, complete: z.boolean(), at: z.string() }),
  /** The item of a website that was seen last: its source, and when; null if the website lists none. */
  asked('probe.site', { site: int64Text, source: int64Text.nullable(), seenAt: z.string().nullable() }),
  asked('probe.done', {}),
  /** Changes of a source beside the feed, by what they came with. */
  note('source.rows', {
    source: z.string(),
    origin: z.enum(CHANGE_ORIGINS),
    file: fileName,
    key: fileName,
    rows: z.number(),
    end: z.number(),
    ...range,
  }),
  /** All that waited at the source has landed. */
  note('source.done', {
    source: z.string(),
    /** Calls that brought it before the run, by our count and by the service's. */
    spent: z.strictObject({ made: z.number(), counted: int64Text }).optional(),
    /** Says what the source leaves to later runs, and why. */
    remark: z.string().optional(),
  }),
  /** Pages of items that changed since a time (null: all), and when the newest of them did. */
  note('poll.round', { since: z.string().nullable(), newest: z.string().nullable(), dataset }),
  asked('poll.page', itemPage),
  asked('poll.done', { dataset }),
  /** Counts of /facets that a poll is compared with, and whether the service was seen to return removals by then. */
  asked('listing.counts', { dataset, answer: z.string(), returnsRemovals: z.boolean() }),
  /** Readings if they don't agree: changes since the poll, or these pages; then items one by one. */
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
  /** The end of a reading: its files, and the service's count of its items; null if not all pages were read. */
  asked('listing.read', { dataset, files: z.array(fileName), total: int64Text.nullable() }),
  /** An item that the service no longer shows (404). */
  asked('listing.gone', { itemId: int64Text }),
  asked('listing.acted', { dataset }),
  /** The most items whose listing is unknown, and why. */
  asked('listing.done', { unknown: int64Text, reason: z.string() }),
  asked('products.page', itemPage),
  asked('products.done', { whole: z.boolean() }),
  asked('sample.page', itemPage),
  /** Sampled items that the service does not show (404), and the end of the sample. */
  asked('sample.done', { missing: z.array(int64Text) }),
  /** An export of changed items, instead of their pages; its rows are named by entries of hydrate.page. */
  asked('hydrate.export', { dataset, announced: int64Text, overage: z.boolean(), blocks: int64Text }),
  /**
   * `page` numbers a page of changed items; single reads and segments of exports have none. A segment has the checksum
   * of its whole file, everything else that of its range.
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
  /** `changes` leave out values: the run reads all changed items whole. */
  z.strictObject({ type: z.literal('partial') }),
  /** Items are read one by one because a list showed less than the feed; once a run. */
  asked('hydrate.again', { items: z.number() }),
  /** `locked`: how many more the plan locks; absent if it was not asked for then. */
  asked('datasets', { readAt: z.string(), answer: z.string(), locked: z.number().optional() }),
  /** Answer of /facets, asked after a complete copy. */
  asked('facets', { answer: z.string() }),
]);

export type RunEntry = z.infer<typeof runEntry>;
export type EntryOf<Type extends RunEntry['type']> = Extract<RunEntry, { type: Type }>;

/** A part of a run's state, as the fold of its entries. */
export interface Part<State> {
  start: State;
  step(state: State, entry: RunEntry): State;
}
