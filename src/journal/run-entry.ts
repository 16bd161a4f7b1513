import * as z from 'zod';
import { findNameFault, quotePath } from '../io/inner-path.js';
import { CHANGE_ORIGINS, RUN_MODES } from '../tables/table.js';

/** An int64 as decimal text, because JSON numbers lose digits in many readers. */
export const int64Text = z
  .string()
  .regex(/^-?\d+$/)
  .transform((text) => BigInt(text));

/** The service's counters of this month; null if unknown. */
export const counted = z.strictObject({ apiCalls: int64Text, exportRows: int64Text, resetsAt: z.string() }).nullable();

/** A plain file name, so that a journal from another machine can't name files outside its folder. */
export const fileName = z.string().superRefine((name, context) => {
  const fault = findNameFault(name);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: `the name ${quotePath(name)} ${fault}` });
});

/** A dataset that is read separately; undefined for all that the key can read. */
export type Dataset = bigint | undefined;

const dataset = int64Text.optional();

/** The SHA-256 of the bytes between the previous entry's end in the same file and `end`. */
const range = { sha256: z.string() };

/** A landed page of items. Its file ends at byte `end` with it. */
const itemPage = { file: fileName, rows: z.number(), end: z.number(), readAt: z.string(), dataset, ...range };

const attempt = { shard: fileName, attempt: z.number() };

export const note = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** Declares an entry after a call. It records the number of calls that the process has made. */
export const asked = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, calls: z.number() });

/**
 * An entry of a run's journal. It is written after the bytes that it names are on disk; bytes without an entry are
 * fetched again.
 */
export const runEntry = z.discriminatedUnion('type', [
  note('begin', {
    runNumber: int64Text,
    runId: fileName,
    at: z.string(),
    pipeline: z.string(),
    /** The feed cursor before the run; null if the lake has none. */
    cursorFrom: int64Text.nullable(),
    /** Ids of the datasets that the run copies; absent for all that the key can read. */
    datasets: z.array(int64Text).optional(),
  }),
  note('try', { at: z.string() }),
  /** `refused` counts the process's calls that brought no 200. */
  asked('calls', { refused: z.number() }),
  /** The service's counters at the beginning of a try, and after the run's calls. */
  asked('usage.before', { counted }),
  asked('usage.after', { counted }),
  asked('decision', {
    mode: z.enum(RUN_MODES),
    reason: z.string(),
    added: z.array(int64Text).optional(),
    /** The feed is read again from after this change, which is before the cursor. */
    overlap: int64Text.optional(),
  }),
  /** The way by which a try copied all items or read changed ones whole, and the reason. */
  asked('chosen', { what: z.enum(['copy', 'hydration']), way: z.string(), reason: z.string() }),
  /** The time at which rows were first made. Sites, rejects and removed items carry this time in every try. */
  note('normalize', {
    at: z.string(),
    /** The same moment by the service's clock; null if its answers don't show it. */
    serviceAt: z.string().nullable(),
  }),
  /** The row equation, settled before publishing, because a later try finds some rows already in place. */
  note('tally', { received: int64Text, written: int64Text, rejected: int64Text, deduplicated: int64Text }),
  note('held', { checks: z.array(z.string()) }),
  note('waived', { at: z.string(), checks: z.array(z.string()) }),
  note('end', { at: z.string() }),
  /** The service's state before whole rows were read. */
  asked('watermark', {
    cursor: int64Text.nullable(),
    /** The last hour of changes begins after it; absent if the feed is read from further back. */
    from: int64Text.optional(),
    changedAt: z.string().nullable(),
    items: int64Text,
    /** The number of items in each dataset that was counted separately. */
    counts: z.array(z.strictObject({ dataset: int64Text, items: int64Text })).optional(),
    at: z.string(),
  }),
  /** The exports of a snapshot (section 4, /export): a single one, or one for each shard. */
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
    /** The most blocks of overage that it was billed. */
    blocks: int64Text,
  }),
  note('export.segment', {
    ...attempt,
    file: fileName,
    bytes: z.number(),
    rows: z.number(),
    fileSha256: z.string(),
  }),
  /** An export that the service cut at the monthly limit. Its rows are paid for and kept, but it is not a copy. */
  asked('export.cut', { ...attempt, announced: int64Text, landed: int64Text, matching: z.string() }),
  asked('export.done', { ...attempt, announced: int64Text, landed: int64Text }),
  /** The feed's end before the feeds of several datasets are read; then each dataset that was read to its end. */
  asked('feed.bound', { newest: int64Text, at: z.string() }),
  asked('feed.part', { dataset, cursor: int64Text }),
  asked('feed.page', {
    dataset,
    after: int64Text,
    nextCursor: int64Text,
    hasMore: z.boolean(),
    rows: z.number(),
    /** The number of changes whose item is null; absent if there are none. */
    unnamed: z.number().optional(),
    end: z.number(),
    ...range,
  }),
  asked('feed.done', { cursor: int64Text, complete: z.boolean(), at: z.string() }),
  /** The item of a website that was seen last: its source, and when; null if the website lists no item. */
  asked('probe.site', { site: int64Text, source: int64Text.nullable(), seenAt: z.string().nullable() }),
  asked('probe.done', {}),
  /** Changes from a source other than the feed, and the keys of what brought them. */
  note('source.rows', {
    source: z.string(),
    origin: z.enum(CHANGE_ORIGINS),
    file: fileName,
    key: fileName,
    rows: z.number(),
    end: z.number(),
    ...range,
  }),
  /** Everything that waited at the source has landed. */
  note('source.done', {
    source: z.string(),
    /** The calls that brought it before the run, by our count and by the service's. */
    spent: z.strictObject({ made: z.number(), counted: int64Text }).optional(),
    remark: z.string().optional(),
  }),
  /** A poll of items that changed since a time (null for all), and the time of the newest change. */
  note('poll.round', { since: z.string().nullable(), newest: z.string().nullable(), dataset }),
  asked('poll.page', itemPage),
  asked('poll.done', { dataset }),
  /** The counts of /facets that a poll is compared with, and whether the service returned removals by then. */
  asked('listing.counts', { dataset, answer: z.string(), returnsRemovals: z.boolean() }),
  /** The readings to make if the counts don't agree: changes since the poll, or these pages; then items one by one. */
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
  /** The end of a reading: its files, and the number of items by the service; null if not all pages were read. */
  asked('listing.read', { dataset, files: z.array(fileName), total: int64Text.nullable() }),
  asked('listing.gone', { itemId: int64Text }),
  asked('listing.acted', { dataset }),
  /** The most items whose listing is unknown, and the reason. */
  asked('listing.done', { unknown: int64Text, reason: z.string() }),
  asked('products.page', itemPage),
  asked('products.done', { whole: z.boolean() }),
  asked('sample.page', itemPage),
  /** The end of the sample, and the sampled items that the service does not show (404). */
  asked('sample.done', { missing: z.array(int64Text) }),
  /** An export of changed items in place of their pages. Its rows are named by entries of type hydrate.page. */
  asked('hydrate.export', { dataset, announced: int64Text, overage: z.boolean(), blocks: int64Text }),
  /**
   * `page` is the number of a page of changed items; single reads and segments of exports have none. A segment has the
   * checksum of its whole file, everything else that of its range.
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
  /** `changes` leave out values, so the run reads all changed items whole. */
  z.strictObject({ type: z.literal('partial') }),
  /** Items are read one by one, because a list showed older values than the feed; once a run. */
  asked('hydrate.again', { items: z.number() }),
  /** `locked` is the number of further datasets that the plan locks; absent if the plan was not read then. */
  asked('datasets', { readAt: z.string(), answer: z.string(), locked: z.number().optional() }),
  /** The answer of /facets after a complete copy. */
  asked('facets', { answer: z.string() }),
]);

export type RunEntry = z.infer<typeof runEntry>;
export type EntryOf<Type extends RunEntry['type']> = Extract<RunEntry, { type: Type }>;

export interface Part<State> {
  start: State;
  step(state: State, entry: RunEntry): State;
}
