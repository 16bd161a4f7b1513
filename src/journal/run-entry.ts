import * as z from 'zod';
import { findNameFault, quotePath } from '../io/inner-path.js';
import { CHANGE_ORIGINS, RUN_MODES } from '../tables/table.js';

/** A 64-bit integer as decimal text, because many JSON parsers round large numbers. */
export const int64Text = z
  .string()
  .regex(/^-?\d+$/)
  .transform((text) => BigInt(text));

/** The service's usage counters for the current month; null if they are unknown. */
export const counted = z.strictObject({ apiCalls: int64Text, exportRows: int64Text, resetsAt: z.string() }).nullable();

/** Accepts only a plain file name. A journal from another machine then can't refer to files outside its folder. */
export const fileName = z.string().superRefine((name, context) => {
  const fault = findNameFault(name);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: `the name ${quotePath(name)} ${fault}` });
});

/** The dataset to which requests are limited. Undefined if they cover all datasets that the key can read. */
export type Dataset = bigint | undefined;

const dataset = int64Text.optional();

/** The SHA-256 of the bytes that an entry covers: from the end of the file's previous entry to `end`. */
const range = { sha256: z.string() };

/** A downloaded page of items. Its bytes end at the offset `end` of the file. */
const itemPage = { file: fileName, rows: z.number(), end: z.number(), readAt: z.string(), dataset, ...range };

const attempt = { shard: fileName, attempt: z.number() };

export const note = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** Declares an entry with `calls`, the number of calls that the current process has made so far. */
export const asked = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, calls: z.number() });

/** An entry of a run's journal. It is written after the data is on disk. Data without an entry is downloaded again. */
export const runEntry = z.discriminatedUnion('type', [
  note('begin', {
    runNumber: int64Text,
    runId: fileName,
    at: z.string(),
    pipeline: z.string(),
    /** The feed cursor before the run; null if the lake has no cursor. */
    cursorFrom: int64Text.nullable(),
    /** The ids of the datasets that the run copies; omitted if it copies all datasets that the key can read. */
    datasets: z.array(int64Text).optional(),
  }),
  note('try', { at: z.string() }),
  /** `refused` is the number of this process's calls that didn't return status 200. */
  asked('calls', { refused: z.number() }),
  /** The service's usage counters when a process starts, and after the run's last call. */
  asked('usage.before', { counted }),
  asked('usage.after', { counted }),
  asked('decision', {
    mode: z.enum(RUN_MODES),
    reason: z.string(),
    added: z.array(int64Text).optional(),
    /** An id before the cursor. The changes between this id and the cursor are read again. */
    overlap: int64Text.optional(),
  }),
  /** The chosen way to copy all items or to read changed items in full, and the reason for this choice. */
  asked('chosen', { what: z.enum(['copy', 'hydration']), way: z.string(), reason: z.string() }),
  /** The time at which rows were first computed. Later attempts reuse this time for sites, rejects and removals. */
  note('normalize', {
    at: z.string(),
    /** The same time by the service's clock; null if its responses have no `Date` header. */
    serviceAt: z.string().nullable(),
  }),
  /** The row counts. They are recorded before publishing, because a later attempt would miscount stored rows. */
  note('tally', { received: int64Text, written: int64Text, rejected: int64Text, deduplicated: int64Text }),
  note('held', { checks: z.array(z.string()) }),
  note('waived', { at: z.string(), checks: z.array(z.string()) }),
  note('end', { at: z.string() }),
  /** The state of the service before complete rows were read. */
  asked('watermark', {
    cursor: int64Text.nullable(),
    /** The feed's cursor an hour before its newest change; omitted if the feed is read from an earlier change. */
    from: int64Text.optional(),
    changedAt: z.string().nullable(),
    items: int64Text,
    /** The number of items in each dataset that was counted separately. */
    counts: z.array(z.strictObject({ dataset: int64Text, items: int64Text })).optional(),
    at: z.string(),
  }),
  /** The exports of a full copy (API §4, /export): one for all items, or one for each shard. */
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
  /** When this entry is written, the service bills the rows of the export, even if the export is interrupted later. */
  asked('export.begin', {
    ...attempt,
    readAt: z.string(),
    announced: int64Text,
    overage: z.boolean(),
    /** The maximum number of overage blocks that the service may bill for this export. */
    blocks: int64Text,
  }),
  note('export.segment', {
    ...attempt,
    file: fileName,
    bytes: z.number(),
    rows: z.number(),
    fileSha256: z.string(),
  }),
  /** The export lacks rows, for example because of the monthly limit. Its rows are billed and kept. */
  asked('export.cut', { ...attempt, announced: int64Text, landed: int64Text, matching: z.string() }),
  asked('export.done', { ...attempt, announced: int64Text, landed: int64Text }),
  /** The newest change before the feeds of several datasets are read (`bound`), and the end of each feed (`part`). */
  asked('feed.bound', { newest: int64Text, at: z.string() }),
  asked('feed.part', { dataset, cursor: int64Text }),
  asked('feed.page', {
    dataset,
    after: int64Text,
    nextCursor: int64Text,
    hasMore: z.boolean(),
    rows: z.number(),
    /** The number of changes that don't name their item; omitted if it is 0. */
    unnamed: z.number().optional(),
    end: z.number(),
    ...range,
  }),
  asked('feed.done', { cursor: int64Text, complete: z.boolean(), at: z.string() }),
  /** The source and time of a website's most recently seen item; null if the website has no listed items. */
  asked('probe.site', { site: int64Text, source: int64Text.nullable(), seenAt: z.string().nullable() }),
  asked('probe.done', {}),
  /** Changes from a source other than the feed. `key` identifies the delivery that contained these changes. */
  note('source.rows', {
    source: z.string(),
    origin: z.enum(CHANGE_ORIGINS),
    file: fileName,
    key: fileName,
    rows: z.number(),
    end: z.number(),
    ...range,
  }),
  /** All changes that the source had stored have been downloaded. */
  note('source.done', {
    source: z.string(),
    /** The calls before the run that downloaded the changes, as counted by pricelake and by the service. */
    spent: z.strictObject({ made: z.number(), counted: int64Text }).optional(),
    remark: z.string().optional(),
  }),
  /** The start of a poll's round. `since` is null if it reads all items. `newest` is the time of the latest change. */
  note('poll.round', { since: z.string().nullable(), newest: z.string().nullable(), dataset }),
  asked('poll.page', itemPage),
  asked('poll.done', { dataset }),
  /** The /facets response to compare with a poll. `returnsRemovals` is true if polls return removed items. */
  asked('listing.counts', { dataset, answer: z.string(), returnsRemovals: z.boolean() }),
  /** The reads to make if the counts differ: another poll (`news`), or pages (`readings`) and then single items. */
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
  /** A finished read. `total` is the service's count of the items, or null if not all pages were read. */
  asked('listing.read', { dataset, files: z.array(fileName), total: int64Text.nullable() }),
  asked('listing.gone', { itemId: int64Text }),
  asked('listing.acted', { dataset }),
  /** The maximum number of items whose listing state is unknown, and the reason. */
  asked('listing.done', { unknown: int64Text, reason: z.string() }),
  asked('products.page', itemPage),
  asked('products.done', { whole: z.boolean() }),
  asked('sample.page', itemPage),
  /** The end of the sample, and the sampled items for which the service returned 404. */
  asked('sample.done', { missing: z.array(int64Text) }),
  /** An export of changed items, which replaces pages. The rows of the export have entries of type `hydrate.page`. */
  asked('hydrate.export', { dataset, announced: int64Text, overage: z.boolean(), blocks: int64Text }),
  /**
   * `page` is the number of a page of changed items. It is omitted for single items and for files of an export. An
   * entry for a file of an export has the checksum of the whole file; other entries have the checksum of their bytes.
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
  /** The field `changes` in the feed omits values, so the run reads all changed items in full. */
  z.strictObject({ type: z.literal('partial') }),
  /** Items whose versions on pages were older than the feed are read again one by one, at most once in a run. */
  asked('hydrate.again', { items: z.number() }),
  /** `locked` is the number of datasets that the plan doesn't include. It is omitted if the plan wasn't read. */
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
