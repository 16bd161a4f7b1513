import type { Io } from '../io/io.js';
import { runSideBySide } from '../io/side-by-side.js';
import type { Landing } from '../journal/landings.js';
import type { ExportGate } from '../plan/export-gate.js';
import type { Shard } from '../plan/plan-shards.js';
import type { DatasetPart } from './dataset-client.js';
import { exportShard, listSegments, type SegmentTyping, type ShardProgress } from './export-shard.js';
import type { ExportFormat } from './row-scanner.js';

/** The maximum number of parallel exports. The client separately limits the rate of requests. */
const CONCURRENCY = 4;

export interface SnapshotOptions {
  shards: readonly Shard[];
  format: ExportFormat;
  gate: ExportGate;
}

/**
 * Downloads all items, in one export or in parallel exports of parts (shards). After an interruption, requests only
 * incomplete shards again. If `options.gate` doesn't allow all rows, throws its error before any request.
 */
export async function landSnapshot(
  parts: readonly DatasetPart[],
  landing: Landing,
  options: SnapshotOptions,
  typing: SegmentTyping,
  io: Io,
): Promise<void> {
  const { shards } = options;
  const came = new Map<string, ShardProgress>();
  const missing = shards.filter((shard) => {
    const segments = listSegments(landing, shard);
    for (const segment of segments ?? []) typing.addItems(segment, { mayBecomeVoid: false });
    if (segments !== undefined) came.set(shard.name, sum(segments));
    return segments === undefined;
  });
  const totalRows = sum(shards).rows;
  // Asks the gate about all shards at once, because it could otherwise refuse a shard after others were paid for.
  options.gate.require(sum(missing).rows);
  const report = (done: boolean) =>
    io.progress({ step: 'land', part: 'snapshot', ...sum([...came.values()]), totalRows, done });
  await runSideBySide(CONCURRENCY, missing, (shard) => {
    const onProgress = (progress: ShardProgress) => {
      came.set(shard.name, progress);
      report(false);
    };
    const part = parts.find(({ dataset }) => dataset === shard.dataset);
    if (part === undefined) throw new Error(`no client for shard ${shard.name}`);
    return exportShard(part.client, landing, { ...options, shard, onProgress }, typing, io);
  });
  report(true);
}

function sum(parts: readonly { rows: bigint | number; bytes?: number }[]): ShardProgress {
  return parts.reduce<ShardProgress>(
    (total, { rows, bytes = 0 }) => ({ rows: total.rows + BigInt(rows), bytes: total.bytes + bytes }),
    { rows: 0n, bytes: 0 },
  );
}
