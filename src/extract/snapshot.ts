import path from 'node:path';
import type { ApiClient } from '../api/client.js';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';
import { type Segment, writeSegments } from '../landing/segment-writer.js';
import { type ExportGate, readTakenExport } from './export-gate.js';

const SEGMENT_BYTES = 128 * 1024 * 1024;
/** An export that breaks off is asked for again at most this often in one process: its rows cost money. */
const ATTEMPTS = 3;
const RETRY_WAIT_MS = 2_000;

/** A synced piece of the export: whole lines. */
export interface LandedSegment {
  path: string;
  rows: number;
  /** When its export was asked for, ISO 8601. */
  readAt: string;
}

/** What an export takes, and what may be taken. */
export interface ExportCost {
  /** Rows that it will have, as far as is known. */
  rows: bigint;
  gate: ExportGate;
}

/** A complete export, landed. */
export interface LandedSnapshot {
  rows: bigint;
  bytes: number;
}

/**
 * Lands `/export?format=ndjson&status=all` (section 4). `onSegment` gets each synced segment
 * while the rest downloads; `onRestart` says that all segments before it are void. Complete only if its rows
 * equal `X-Export-Rows`; otherwise `snapshot_incomplete`, or `quota` when the service truncated it. One that would
 * pass what `cost.gate` allows is not asked for.
 */
export async function landSnapshot(
  client: ApiClient,
  landing: Landing,
  cost: ExportCost,
  events: { onSegment: (segment: LandedSegment) => void; onRestart: () => Promise<void> },
  io: Io,
): Promise<LandedSnapshot> {
  const { journal } = landing;
  if (journal.last('export.done') === undefined) await downloadExport(client, landing, cost, events, io);
  else {
    const readAt = readTime(landing);
    for (const { file, rows } of doneSegments(landing)) events.onSegment({ path: file, rows, readAt });
  }
  const segments = doneSegments(landing);
  return {
    rows: journal.last('export.done')?.landed ?? 0n,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
  };
}

function readTime(landing: Landing): string {
  return landing.journal.last('export.begin')?.readAt ?? '';
}

function doneSegments(landing: Landing): { file: string; rows: number; bytes: number }[] {
  const attempt = landing.journal.last('export.done')?.attempt;
  return landing.journal
    .all('export.segment')
    .filter((segment) => segment.attempt === attempt)
    .map(({ file, rows, bytes }) => ({ file: path.join(landing.folder, file), rows, bytes }));
}

async function downloadExport(
  client: ApiClient,
  landing: Landing,
  cost: ExportCost,
  events: { onSegment: (segment: LandedSegment) => void; onRestart: () => Promise<void> },
  io: Io,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await downloadOnce(client, landing, cost, events, io);
    } catch (error) {
      const passing =
        error instanceof PricelakeError && (error.code === 'snapshot_incomplete' || error.facts.midStream === true);
      if (!passing || attempt >= ATTEMPTS) throw error;
      io.log('warn', 'export.again', { attempt, reason: error.message });
      await events.onRestart();
      await io.sleep(RETRY_WAIT_MS * attempt);
    }
  }
}

async function downloadOnce(
  client: ApiClient,
  landing: Landing,
  cost: ExportCost,
  events: { onSegment: (segment: LandedSegment) => void },
  io: Io,
): Promise<void> {
  const { journal } = landing;
  const attempt = journal.all('export.begin').length + 1;
  const readAt = io.now().toISOString();
  const { body, headers } = await openExport(client, cost);
  const announced = readExportRows(headers);
  const taken = readTakenExport(headers, announced);
  const begun = { announced, overage: taken.overage, blocks: cost.gate.take(taken) };
  await journal.append({ type: 'export.begin', attempt, readAt, ...begun, calls: client.calls() });
  refuseTruncated(headers, announced);
  let rows = 0n;
  let bytes = 0;
  const progress = (done: boolean) => io.progress({ step: 'snapshot', rows, totalRows: announced, bytes, done });
  const landed = await writeSegments(body, {
    folder: landing.folder,
    prefix: `export-${attempt}-`,
    targetBytes: SEGMENT_BYTES,
    onBytes: (chunkBytes, chunkRows) => {
      rows += BigInt(chunkRows);
      bytes += chunkBytes;
      progress(false);
    },
    onSegment: async (segment: Segment) => {
      await journal.append({ type: 'export.segment', attempt, ...segment });
      io.log('debug', 'landed', { what: 'segment', ...segment });
      events.onSegment({ path: path.join(landing.folder, segment.file), rows: segment.rows, readAt });
    },
  });
  progress(true);
  if (landed.rows !== announced) {
    await journal.append({ type: 'export.failed', attempt, announced, landed: landed.rows });
    throw new PricelakeError(
      'snapshot_incomplete',
      `/export: ${landed.rows} rows arrived, X-Export-Rows announced ${announced}`,
      { hint: 'nothing was published; run the same command again' },
    );
  }
  await journal.append({ type: 'export.done', attempt, announced, landed: landed.rows, calls: client.calls() });
  io.log('debug', 'landed', { what: 'export', rows: landed.rows, bytes: landed.bytes });
}

async function openExport(client: ApiClient, { rows, gate }: ExportCost) {
  gate.require(rows);
  try {
    return await client.stream('/export', { format: 'ndjson', status: 'all' });
  } catch (error) {
    // One that was asked for and never answered may have been counted.
    if (error instanceof PricelakeError && error.facts.midStream === true) gate.take({ rows, overage: false });
    throw error;
  }
}

function readExportRows(headers: Record<string, string>): bigint {
  const text = headers['x-export-rows'] ?? '';
  if (!/^\d{1,18}$/.test(text)) {
    throw new PricelakeError(
      'contract',
      `/export: header X-Export-Rows is "${text}", a whole number is due: without it a complete export can't be told from a cut one`,
      { hint: 'check source.baseUrl, and that no proxy removes headers' },
    );
  }
  return BigInt(text);
}

function refuseTruncated(headers: Record<string, string>, announced: bigint): void {
  if (headers['x-export-truncated'] !== 'true') return;
  const matching = headers['x-export-matching'] ?? 'more';
  throw new PricelakeError(
    'quota',
    `/export: the service cut the export at the monthly limit: ${announced} of ${matching} rows`,
    {
      limit: 'exportRowsPerMonth',
      hint: 'a cut export is never taken for a copy; wait for the next month or choose a larger plan',
    },
  );
}
