import type { Io } from '../io/io.js';
import type { Landing } from '../landing/landing.js';
import type { ExportFormat } from '../landing/row-scanner.js';
import type { ExportGate } from '../plan/export-gate.js';
import type { Dataset } from '../plan/plan-shards.js';
import { type Counts, planExports, type Shard, SPLIT_ABOVE } from '../plan/plan-shards.js';
import { countListed } from './count-items.js';
import type { DatasetPart } from './dataset-client.js';
import { listSegments } from './export-segments.js';
import { exportShard, type Progress, type SnapshotEvents } from './export-shard.js';
import { runSideBySide } from './side-by-side.js';

/** Exports side by side; the rate stays the client's. */
const CONCURRENCY = 4;

/** What a snapshot is planned from. */
export interface SnapshotOptions {
  /** Items of each part, as the low watermark counted them. */
  counts: ReadonlyMap<Dataset, bigint>;
  format: ExportFormat;
  /** Lets exports through or not. */
  gate: ExportGate;
  /** From more items on the export is split. */
  splitAbove?: bigint;
}

/**
 * Lands all items, in one export or in shards side by side. Each shard is a checkpoint: one that broke off is taken
 * again alone, and an interrupted run goes on with those that it lacks. Returns the shards. Throws what `gate` does
 * before anything is asked for that it does not let through.
 */
export async function landSnapshot(
  parts: readonly DatasetPart[],
  landing: Landing,
  options: SnapshotOptions,
  events: SnapshotEvents,
  io: Io,
): Promise<Shard[]> {
  const shards = await landPlan(parts, landing, options, io);
  const came = new Map<string, Progress>();
  const missing = shards.filter((shard) => {
    const segments = listSegments(landing, shard.name);
    for (const segment of segments ?? []) events.onSegment(segment, { mayBecomeVoid: false });
    if (segments !== undefined) came.set(shard.name, sum(segments));
    return segments === undefined;
  });
  const totalRows = sum(shards).rows;
  // All of them or none: a copy that would end midway is not begun.
  options.gate.require(sum(missing).rows);
  const report = (done: boolean) => io.progress({ step: 'snapshot', ...sum([...came.values()]), totalRows, done });
  await runSideBySide(CONCURRENCY, missing, (shard) => {
    const onProgress = (progress: Progress) => {
      came.set(shard.name, progress);
      report(false);
    };
    const part = parts.find(({ dataset }) => dataset === shard.dataset);
    if (part === undefined) throw new Error(`no client for shard ${shard.name}`);
    return exportShard(part.client, landing, { ...options, shard }, { ...events, onProgress }, io);
  });
  report(true);
  return shards;
}

function sum(parts: readonly { rows: bigint | number; bytes?: number }[]): Progress {
  return parts.reduce<Progress>(
    (total, { rows, bytes = 0 }) => ({ rows: total.rows + BigInt(rows), bytes: total.bytes + bytes }),
    { rows: 0n, bytes: 0 },
  );
}

/** Rows that exports have still to bring of so many items. */
export function countMissingRows(landing: Landing, items: bigint): bigint {
  const planned = landing.journal.last('shards')?.shards;
  if (planned === undefined) return items;
  return sum(planned.filter(({ name }) => listSegments(landing, name) === undefined)).rows;
}

/** Decided once for all tries: the shards that have landed fit no other plan. */
async function landPlan(
  parts: readonly DatasetPart[],
  landing: Landing,
  { counts, gate, splitAbove = SPLIT_ABOVE }: SnapshotOptions,
  io: Io,
): Promise<Shard[]> {
  const { journal } = landing;
  const planned = journal.last('shards');
  if (planned !== undefined) {
    return planned.shards.map(({ site, dataset, ...shard }) => ({ ...shard, dataset, site: site ?? undefined }));
  }
  const counted: Counts[] = [];
  for (const { dataset, client } of parts) {
    const items = counts.get(dataset) ?? 0n;
    counted.push({ dataset, items, listed: items > splitAbove ? await countListed(client) : undefined });
  }
  const { shards, reason } = planExports(counted, gate.left(), splitAbove);
  const entry = shards.map(({ site, ...shard }) => ({ ...shard, site: site ?? null }));
  await journal.append({ type: 'shards', shards: entry, reason, calls: parts[0]?.client.calls() ?? 0 });
  io.log(shards.length > 1 ? 'info' : 'debug', 'export.planned', { exports: shards.length, reason });
  return shards;
}
