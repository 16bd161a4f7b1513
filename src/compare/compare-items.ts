import { fetchAllowance } from '../account/read-plan.js';
import { createClient } from '../api/client.js';
import type { Pipeline } from '../config/pipeline-file.js';
import type { Database } from '../duckdb/connection.js';
import type { Io } from '../io/io.js';
import { openLanding } from '../journal/landings.js';
import { type Lake, openLake } from '../lake/lake.js';
import { readTable } from '../lake/read.js';
import { openSession } from '../lake/session.js';
import { TypingQueue } from '../typing/typing-queue.js';
import { type SampleComparison, sampleItems } from './compare-sample.js';

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
  const session = await openSession({ lake, runId, signal, memoryLimit: pipeline.lake.memory });
  const { db, workFolder: folder } = session;
  const begin = { runNumber: 0n, runId, at: io.now().toISOString(), pipeline: pipeline.name, cursorFrom: null };
  const landing = await openLanding(folder, begin);
  try {
    await fetchAllowance(client, pipeline.budget);
    const typing = new TypingQueue(db, { runId, workFolder: folder });
    return await sampleItems({ db, landing, client, typing, io }, size, await readKnownUntil(lake, db));
  } finally {
    await landing.journal.close();
    await client.close();
    await session.close();
  }
}

/** Up to when a lake without the feed is known to be complete. Notes the cursor of one with the feed. */
async function readKnownUntil(lake: Lake, db: Database): Promise<string> {
  const { cursor, polledAt: polled } = (await readTable(lake, 'items')).applied;
  await db.run('SET VARIABLE feed_cursor = $1::BIGINT', [cursor ?? null]);
  if (polled > 0n) return new Date(Number(polled / 1000n)).toISOString();
  const row = await db.row('SELECT epoch_ms(max(last_changed_at)) AS at FROM items');
  return new Date(Number((row?.at as bigint | null) ?? 0n)).toISOString();
}
