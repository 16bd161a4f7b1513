import { type ApiClient, createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import type { Io } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import { openLanding } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import { readTables } from '../../lake/read.js';
import { openSession } from '../../lake/session.js';
import { LakeRows } from '../../lake/table-rows.js';
import { limitClient } from '../../run/open/account.js';
import { fetchDatasets } from '../../run/open/dataset-selection.js';
import type { Engine } from '../../run/open/run-parts.js';
import { skipSample } from '../../source/allow-skipping.js';
import { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { Applied } from '../../tables/table.js';
import { listDatasetNames, readKnownDatasets } from '../../typing/dataset-names.js';
import { type FeedSkew, UNKNOWN_SKEW } from '../../typing/feed-skew.js';
import { ItemReader } from '../../typing/typed-rows.js';
import { TypingQueue } from '../../typing/typing-queue.js';
import { type AskedSample, chooseSample } from './choose-sample.js';
import { landSample } from './land-sample.js';

/** The result of comparing the sampled items of the service with the lake as this run would publish it. */
export interface SampleProof {
  /** The number of items that were compared. An item that changed after the feed was read can't be compared. */
  sampled: bigint;
  mismatches: bigint;
  /** The upper bound, at 95% confidence, of the share of the lake's items that don't match. */
  bound: number;
  /** A JSON array with an object for each item that differs: its `item_id`, and the names of the values that differ. */
  differences: string;
}

export const NO_SAMPLE: SampleProof = { sampled: 0n, mismatches: 0n, bound: 1, differences: '[]' };

interface SampledLake {
  history: Relation;
  stale_items: Relation;
  /** The last change that was applied to the items. Undefined if the lake doesn't use the feed. */
  cursor: bigint | undefined;
  /** The time up to which a lake without the feed is complete, in ISO 8601; null if it is unknown. */
  lowWatermark: string | null;
  skew: FeedSkew;
  /** A pattern that finds the names of datasets in a text (see dataset-names.ts). */
  datasetPattern: string | null;
}

/** Compares a run's sample with the lake, value by value. If a response is invalid, compares no items. */
export async function proveRunSample(
  io: Io,
  engine: Pick<Engine, 'graph' | 'typing'>,
  asked: AskedSample | undefined,
  lake: SampledLake,
): Promise<SampleProof> {
  if (asked === undefined) return NO_SAMPLE;
  const comparison = await compareSample(engine, asked, lake).catch((error: unknown) => skipSample(error, io));
  if (comparison === undefined) return NO_SAMPLE;
  io.log(comparison.mismatches > 0n ? 'warn' : 'debug', 'sample.compared', { ...comparison });
  return comparison;
}

/**
 * Compares `size` random items of the published lake with the service, value by value. Makes one call for each item,
 * within the pipeline's budget. Changes nothing.
 * @throws PricelakeError `budget` or `quota` if too few calls are left
 */
export async function proveItems(pipeline: Pipeline, size: number, io: Io, signal: AbortSignal): Promise<SampleProof> {
  const lake = await openLake(pipeline.lake.path, { create: false });
  const { baseUrl, apiKey } = pipeline.source;
  const client = createClient({ baseUrl, apiKey, signal }, io);
  const runId = `verify-${io.now().toISOString()}`;
  const session = await openSession({ hasModels: true, signal, memoryLimit: pipeline.lake.memory });
  const { db, workFolder: folder } = session;
  const begin = { runNumber: 0n, runId, at: io.now().toISOString(), pipeline: pipeline.name, cursorFrom: null };
  const landing = await openLanding(folder, begin);
  try {
    const { plan } = await limitClient(client, pipeline.budget);
    const typing = new TypingQueue(db, { runId, workFolder: folder });
    const graph = new RelationGraph(db);
    const tables = await readTables(lake);
    const rows = new LakeRows(graph, lake, tables, () => 0n);
    const sampled = await openSampledLake(graph, rows, tables.items.applied);
    const readable = plan.lockedDatasets === 0 ? undefined : await readReadableNames(graph, rows, client);
    const chosen = await chooseSample(graph, { items: sampled.items, readable, first: [] }, size, runId);
    const landed = await landSample(client, landing, chosen.ids, io);
    return await compareSample({ graph, typing }, { rows: chosen.rows, ...landed }, sampled);
  } finally {
    await landing.journal.close();
    await client.close();
    await session.close();
  }
}

/** Returns the names of the datasets that the key can read, in the spelling that the lake's items use. */
async function readReadableNames(graph: RelationGraph, rows: LakeRows, client: ApiClient) {
  const known = await readKnownDatasets(graph, await rows.rows('datasets'));
  return listDatasetNames(await fetchDatasets(client), known, false).readable;
}

async function compareSample(
  { graph, typing }: Pick<Engine, 'graph' | 'typing'>,
  { rows: items, files, missing }: AskedSample,
  { history, stale_items, cursor, lowWatermark, skew, datasetPattern }: SampledLake,
): Promise<SampleProof> {
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

async function openSampledLake(
  graph: RelationGraph,
  lake: LakeRows,
  { cursor, polledAt }: Pick<Applied, 'cursor' | 'polledAt'>,
): Promise<SampledLake & { items: Relation }> {
  const items = await lake.rows('items');
  const [history, stale_items] = [await lake.rows('history'), await lake.rows('stale_items')];
  const lowWatermark = await readKnownUntil(graph, items, polledAt);
  return { items, history, stale_items, cursor, lowWatermark, skew: UNKNOWN_SKEW, datasetPattern: null };
}

/** Returns the time up to which a lake that doesn't use the feed is complete, in ISO 8601. */
async function readKnownUntil(graph: RelationGraph, items: Relation, polled: bigint): Promise<string> {
  if (polled > 0n) return new Date(Number(polled / 1000n)).toISOString();
  const row = await graph.row(sql`SELECT epoch_ms(max(last_changed_at)) AS at FROM ${items}`);
  return new Date(Number((row?.at as bigint | null) ?? 0n)).toISOString();
}

/**
 * Returns the upper bound of a rate at 95% confidence (one-sided, Clopper–Pearson). If the rate were higher, fewer than
 * 5% of samples would contain `found` hits or fewer. Returns 1 for an empty sample.
 */
export function boundMismatchRate(found: number, sampled: number): number {
  if (found >= sampled) return 1;
  let low = found / sampled;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (chanceOfAtMost(found, sampled, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability P(X ≤ found), where X has the distribution Binomial(sampled, rate). */
function chanceOfAtMost(found: number, sampled: number, rate: number): number {
  let sum = 0;
  let logTerm = sampled * Math.log1p(-rate);
  for (let k = 0; k <= found; k++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((sampled - k) / (k + 1)) + Math.log(rate) - Math.log1p(-rate);
  }
  return sum;
}
