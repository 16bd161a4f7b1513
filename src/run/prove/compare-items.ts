import { createClient } from '../../api/client.js';
import { UNKNOWN_SKEW } from '../../apply/feed-skew.js';
import { TypingQueue } from '../../apply/typing-queue.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import type { Io } from '../../io/io.js';
import { openLanding } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import { openSession } from '../../lake/session.js';
import { LakeRows } from '../../lake/table-rows.js';
import { fetchAllowance } from '../../source/read-plan.js';
import { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import type { Applied } from '../../tables/table.js';
import { readTables } from '../open/open-tables.js';
import { type SampleComparison, type SampledLake, sampleItems } from './compare-sample.js';

/**
 * Compares `size` items of the published lake with the service, value by value: a call each, within the budget of the
 * pipeline. Reads only; another sample every time.
 * @throws PricelakeError `budget` or `quota` when the calls that are left don't suffice.
 */
export async function compareItemSample(
  pipeline: Pipeline,
  size: number,
  io: Io,
  signal: AbortSignal,
): Promise<SampleComparison> {
  const lake = await openLake(pipeline.lake.path, { create: false });
  const { baseUrl, apiKey } = pipeline.source;
  const client = createClient({ baseUrl, apiKey, signal }, io);
  const runId = `verify-${io.now().toISOString()}`;
  const session = await openSession({ hasModels: true, signal, memoryLimit: pipeline.lake.memory });
  const { db, workFolder: folder } = session;
  const begin = { runNumber: 0n, runId, at: io.now().toISOString(), pipeline: pipeline.name, cursorFrom: null };
  const landing = await openLanding(folder, begin);
  try {
    await fetchAllowance(client, pipeline.budget);
    const typing = new TypingQueue(db, { runId, workFolder: folder });
    const graph = new RelationGraph(db);
    const tables = await readTables(lake);
    const sampled = await openSampledLake(graph, new LakeRows(graph, lake, tables, () => 0n), tables.items.applied);
    return await sampleItems({ graph, landing, client, typing, io }, size, sampled);
  } finally {
    await landing.journal.close();
    await client.close();
    await session.close();
  }
}

async function openSampledLake(
  graph: RelationGraph,
  lake: LakeRows,
  { cursor, polledAt }: Pick<Applied, 'cursor' | 'polledAt'>,
): Promise<SampledLake> {
  const items = await lake.rows('items');
  const [history, stale_items] = [await lake.rows('history'), await lake.rows('stale_items')];
  const lowWatermark = await readKnownUntil(graph, items, polledAt);
  return { items, history, stale_items, cursor, lowWatermark, skew: UNKNOWN_SKEW, datasetPattern: null };
}

/** Up to when a lake without the feed is known to be complete. */
async function readKnownUntil(graph: RelationGraph, items: Relation, polled: bigint): Promise<string> {
  if (polled > 0n) return new Date(Number(polled / 1000n)).toISOString();
  const row = await graph.row(sql`SELECT epoch_ms(max(last_changed_at)) AS at FROM ${items}`);
  return new Date(Number((row?.at as bigint | null) ?? 0n)).toISOString();
}
