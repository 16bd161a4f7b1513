import * as z from 'zod';
import { RUN_MODES } from '../tables/table.js';
import { fileName, int64Text, landedEntries } from './landed-entry.js';

/** The service's count of this month; null: not known. */
export const counted = z.strictObject({ apiCalls: int64Text, exportRows: int64Text, resetsAt: z.string() }).nullable();

/**
 * A line of a run's journal. It is written after the bytes that it names are on disk; bytes that no line names are fetched
 * again. `calls` counts those of the process so far.
 */
export const runEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('begin'),
    runNumber: int64Text,
    runId: fileName,
    at: z.string(),
    pipeline: z.string(),
    /** Feed cursor before the run; null when the lake has none. */
    cursorFrom: int64Text.nullable(),
    /** Ids of the datasets that the run copies; absent: all that the key can read. */
    datasets: z.array(int64Text).optional(),
  }),
  z.strictObject({ type: z.literal('try'), at: z.string() }),
  /** `refused` counts the process's calls that brought no 200. */
  z.strictObject({ type: z.literal('calls'), calls: z.number(), refused: z.number() }),
  /** The service's count at the beginning of a try, and after the run's calls. */
  z.strictObject({ type: z.literal('usage.before'), counted, calls: z.number() }),
  z.strictObject({ type: z.literal('usage.after'), counted, calls: z.number() }),
  /** The mode of the run, and why. A decision holds for all tries. */
  z.strictObject({
    type: z.literal('decision'),
    mode: z.enum(RUN_MODES),
    reason: z.string(),
    /** Datasets that are new to the lake: these are copied whole. */
    added: z.array(int64Text).optional(),
    calls: z.number(),
  }),
  /** The way by which a try copied all items, or read changed ones whole, and why. */
  z.strictObject({
    type: z.literal('chosen'),
    what: z.enum(['copy', 'hydration']),
    way: z.string(),
    reason: z.string(),
    calls: z.number(),
  }),
  /** The time at which rows were first made. It dates sites, rejects and gone items in every try. */
  z.strictObject({
    type: z.literal('normalize'),
    at: z.string(),
    /** The same moment by the service's clock; null if its answers don't say. */
    serviceAt: z.string().nullable(),
  }),
  /** The row equation, settled before anything is published, because a later try finds some rows in place. */
  z.strictObject({
    type: z.literal('tally'),
    received: int64Text,
    written: int64Text,
    rejected: int64Text,
    deduplicated: int64Text,
  }),
  /** Another program has typed and committed the landed items (pipelines/spark/merge.py). */
  z.strictObject({ type: z.literal('merged'), at: z.string() }),
  z.strictObject({ type: z.literal('held'), checks: z.array(z.string()) }),
  /** Gates that failed and that a person waived. */
  z.strictObject({ type: z.literal('waived'), at: z.string(), checks: z.array(z.string()) }),
  z.strictObject({ type: z.literal('end'), at: z.string() }),
  ...landedEntries,
]);

export type RunEntry = z.infer<typeof runEntry>;
export type EntryOf<Type extends RunEntry['type']> = Extract<RunEntry, { type: Type }>;
