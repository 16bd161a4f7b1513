import { ItemReader } from '../../apply/batch.js';
import type { FeedSkew } from '../../apply/feed-skew.js';
import { settleAll } from '../../io/side-by-side.js';
import { type LandedSample, landSample, skipSample } from '../../source/sample.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';
import { boundMismatchRate } from './mismatch-bound.js';

/** A sample of items of the lake as it would be, compared with the service. */
export interface SampleComparison {
  /** Items that could be judged: one that changed after the feed was read is not. */
  sampled: bigint;
  mismatches: bigint;
  /** Upper bound of the rate of mismatches in the lake, 95 % confidence. */
  bound: number;
  /** JSON text of an array: item_id and the names of the values that differ. */
  differences: string;
}

export const NO_SAMPLE: SampleComparison = { sampled: 0n, mismatches: 0n, bound: 1, differences: '[]' };

/** The tasks that a sample is read and typed with. */
export type SampleRun = Pick<Run, 'graph' | 'landing' | 'client' | 'typing' | 'io'>;

/** The lake that a sample is compared with. */
export interface SampledLake {
  items: Relation;
  history: Relation;
  stale_items: Relation;
  /** The change up to which items are applied; undefined without the feed. */
  cursor: bigint | undefined;
  /** Up to when a lake without the feed is complete, ISO 8601; null is not known. */
  lowWatermark: string | null;
  skew: FeedSkew;
  /** Finds names of datasets in texts (dataset-names.ts). */
  datasetPattern: string | null;
}

/** The sampled items' rows of the lake, and their ids. */
export interface ChosenSample {
  rows: Relation;
  ids: bigint[];
}

/** Chooses a run's seeded sample: another one in each run, the same in each of its tries. Undefined where none is wanted. */
export async function chooseRunSample(
  { graph, landing }: Pick<Run, 'graph' | 'landing'>,
  { plan }: LandedInput,
  items: Relation,
): Promise<ChosenSample | undefined> {
  const size = plan.comparisons.sample;
  return size === 0 ? undefined : chooseSample(graph, items, size, landing.runId);
}

/** Reads a run's sample from the service. Without a call left, or an answer, nothing is sampled. */
export async function readRunSample(
  { client, landing, io }: Pick<Run, 'client' | 'landing' | 'io'>,
  { ids }: ChosenSample,
): Promise<LandedSample | undefined> {
  return landSample(client, landing, ids, io).catch((error: unknown) => skipSample(error, io));
}

/** Compares a run's sample with the lake, value by value. */
export async function compareSample(
  run: SampleRun,
  chosen: ChosenSample | undefined,
  landed: LandedSample | undefined,
  lake: SampledLake,
): Promise<SampleComparison> {
  if (chosen === undefined || landed === undefined) return NO_SAMPLE;
  const comparison = await compareLanded(run, chosen, landed, lake).catch((error: unknown) =>
    skipSample(error, run.io),
  );
  if (comparison === undefined) return NO_SAMPLE;
  run.io.log(comparison.mismatches > 0n ? 'warn' : 'debug', 'sample.compared', { ...comparison });
  return comparison;
}

/** Chooses, reads and judges a sample of `size` items. */
export async function sampleItems(base: SampleRun, size: number, lake: SampledLake): Promise<SampleComparison> {
  const { graph, client, landing, io } = base;
  const chosen = await chooseSample(graph, lake.items, size, landing.runId);
  return compareLanded(base, chosen, await landSample(client, landing, chosen.ids, io), lake);
}

async function chooseSample(graph: RelationGraph, items: Relation, size: number, seed: string): Promise<ChosenSample> {
  const rows = graph.table(
    'sampled_items',
    sql`SELECT * FROM ${items} WHERE gone_at IS NULL ORDER BY hash(item_id, ${seed}) LIMIT ${BigInt(size)}`,
  );
  const ids = await graph.rows(sql`SELECT item_id FROM ${rows}`);
  return { rows, ids: ids.map((row) => row.item_id as bigint) };
}

/** Not the lake but the sample is read again for each comparison. */
async function compareLanded(
  { graph, typing }: SampleRun,
  { rows: items }: ChosenSample,
  { files, missing }: LandedSample,
  { history, stale_items, cursor, lowWatermark, skew, datasetPattern }: SampledLake,
): Promise<SampleComparison> {
  const typed = await settleAll(files.map((file) => typing.typeApart({ ...file, origin: 'page' })));
  const { rows: exported_items } = await new ItemReader(graph, datasetPattern).exported(typed);
  const missing_sample = code(`SELECT unnest(CAST([${missing.join(', ')}] AS BIGINT[])) AS item_id`);
  const compared_items = graph.model('compare', { exported_items, items }, { feed_skew: skew.us });
  const judged = graph.model(
    'judged_sample',
    { compared_items, exported_items, history, items, missing_sample, stale_items },
    { feed_cursor: cursor ?? null, feed_skew: skew.us, sample_watermark: lowWatermark },
  );
  const row = await graph.row(sql`SELECT count(*) AS sampled, count(*) FILTER (len(differences) > 0) AS mismatches,
      coalesce(CAST(to_json(list({'item_id': item_id, 'differences': differences}) FILTER (len(differences) > 0)) AS VARCHAR), '[]')
        AS differences
    FROM ${judged}`);
  const sampled = row?.sampled as bigint;
  const mismatches = row?.mismatches as bigint;
  const bound = boundMismatchRate(Number(mismatches), Number(sampled));
  return { sampled, mismatches, bound, differences: String(row?.differences) };
}
