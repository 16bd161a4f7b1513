import type { PlannedRun } from '../account/read-plan.js';
import { PricelakeError } from '../errors/errors.js';
import type { DatasetPart } from '../extract/dataset-client.js';
import { listCutSegments } from '../extract/export-segments.js';
import type { SnapshotEvents } from '../extract/export-shard.js';
import type { ItemFile } from '../extract/item-files.js';
import { countWholePages, landPoll, reopenPoll } from '../extract/poll.js';
import { countMissingRows, landSnapshot } from '../extract/snapshot.js';
import type { LowWatermark } from '../extract/watermark.js';
import type { Io } from '../io/io.js';
import type { JournalEntries } from '../landing/journal.js';
import { dropRun } from '../landing/landing.js';
import { findBrokenCopy, refuseBroken } from '../plan/broken-exports.js';
import { chooseCopy } from '../plan/choose-copy.js';
import type { ExportGate } from '../plan/export-gate.js';
import { listSelectedParts } from '../run/dataset-selection.js';
import type { Run } from '../run/open-run.js';
import { reachBack, readPollStart } from '../run/poll-start.js';
import { hasOutlastedHistory } from './decide-run.js';

/** Lands the items of these parts that changed since the last run. */
export async function landChangedItems(run: Run, parts: readonly DatasetPart[], onPage: OnPage): Promise<void> {
  const changedSince = reachBack(await readPollStart(run));
  await landPoll(parts, run.landing, { changedSince, untilSettled: false }, onPage, run.io);
}

/** What all items of some parts are copied with. */
interface Copy {
  parts: readonly DatasetPart[];
  lowWatermark: LowWatermark;
  /** Items of the parts. */
  items: bigint;
  gate: ExportGate;
  onPage: OnPage;
}

/**
 * Copies all items of these parts by the route that plan and budget allow; what an export that was cut brought is kept.
 * A run that is refused before anything has landed is forgotten.
 */
export function landAllItems(
  run: Run,
  parts: readonly DatasetPart[],
  lowWatermark: LowWatermark,
  gate: ExportGate,
  onPage: OnPage,
): Promise<void> {
  const items = parts.reduce((sum, { dataset }) => sum + (lowWatermark.counts.get(dataset) ?? 0n), 0n);
  return copyItems(run, { parts, lowWatermark, items, gate, onPage }).catch((error) => dropRefused(run, error));
}

async function copyItems(run: Run, copy: Copy): Promise<void> {
  const { client, landing, io, typing } = run;
  const { parts, items, gate, onPage } = copy;
  for (const segment of listCutSegments(landing)) typing.addItems({ ...segment, origin: 'export' });
  const readPages = () => {
    const poll = { changedSince: undefined, untilSettled: true };
    return landPoll(parts, landing, poll, onPage, io);
  };
  const datasets = parts.map(({ dataset }) => dataset);
  const pagesLanded = BigInt(countWholePages(landing.journal, datasets));
  if (pagesLanded > 0n && landing.journal.last('poll.done') !== undefined) return readPages();
  let cut: PricelakeError | undefined;
  for (;;) {
    const choice = chooseCopy({
      items,
      parts: parts.length,
      exportRows: countMissingRows(landing, items),
      allowance: gate.left(),
      callsMade: BigInt(client.calls()),
      pagesLanded,
      cut,
      broken: refuseBrokenCopy(run, gate),
    });
    if (choice.route === 'wait') throw choice.refusal;
    io.log(choice.route === 'export' ? 'debug' : 'info', 'copy.chosen', { ...choice });
    const { route: way, reason } = choice;
    await landing.journal.append({ type: 'chosen', what: 'copy', way, reason, calls: client.calls() });
    if (choice.route === 'pages') return readPages();
    try {
      return await exportAllItems(run, copy);
    } catch (error) {
      // The quota may run out while shards download side by side: one is cut, and the others are refused.
      if (!isOutOfRows(error)) throw error;
      cut = error;
    }
  }
}

/** The service cut an export at the month's rows, or the gate refuses one that it would cut. */
function isOutOfRows(error: unknown): error is PricelakeError {
  return error instanceof PricelakeError && (error.facts.cut === true || error.facts.rule === 'exportRowsPerMonth');
}

/** Why the exports that are missing are not tried now; undefined where none of them broke off run by run. */
export function refuseBrokenCopy(
  { io, landing }: { io: Io; landing: { journal: Pick<JournalEntries, 'all' | 'last'> } },
  { memory }: Pick<ExportGate, 'memory'>,
): PricelakeError | undefined {
  const done = new Set(landing.journal.all('export.done').map(({ shard }) => shard));
  const planned = landing.journal.last('shards')?.shards.map(({ name }) => name);
  const missing = planned?.filter((name) => !done.has(name));
  const broken = findBrokenCopy(memory, io.now(), missing);
  return broken === undefined ? undefined : refuseBroken(broken);
}

async function exportAllItems(run: Run, { parts, lowWatermark, gate, onPage }: Copy): Promise<void> {
  const { landing, io, typing } = run;
  const { export: format, splitAbove } = run.pipeline.source;
  const selection = { counts: lowWatermark.counts, format, gate, splitAbove: BigInt(splitAbove) };
  const events: SnapshotEvents = {
    onSegment: (segment, facts) => typing.addItems({ ...segment, origin: 'export' }, facts),
    onVoid: (paths) => typing.forget(paths),
    whenRoom: () => typing.whenRoom(),
  };
  const shards = await landSnapshot(parts, landing, selection, events, io);
  if (lowWatermark.changedAt === undefined) return;
  if (shards.length === 1 && landing.journal.last('poll.round') === undefined) return;
  // An item that moved between the shards may be in none of them: it has changed since the low watermark.
  const changedSince = reachBack(Date.parse(lowWatermark.changedAt));
  await landPoll(parts, landing, { changedSince, untilSettled: true }, onPage, io);
}

/** What changed while the run stood still, and the feed can't tell any more, is polled. */
export async function coverStandstill(
  run: Run,
  planned: PlannedRun,
  { changedAt }: LowWatermark,
  onPage: OnPage,
): Promise<void> {
  const { landing, io } = run;
  if (changedAt === undefined || landing.journal.last('feed.done') !== undefined) return;
  if (!hasOutlastedHistory(run, planned)) return;
  const changedSince = reachBack(Date.parse(changedAt));
  const parts = listSelectedParts(run.client, run.selection);
  await reopenPoll(landing, parts, changedSince);
  await landPoll(parts, landing, { changedSince, untilSettled: true }, onPage, io);
}

/** Gets files of pages. */
export type OnPage = (file: ItemFile) => void;

/** Hands files of pages to the typing, each once. */
export function typePages({ typing }: Run): OnPage {
  const handed = new Set<string>();
  return (file) => {
    if (handed.has(file.path)) return;
    handed.add(file.path);
    typing.addItems({ ...file, origin: 'page' });
  };
}

/** Drops a run whose export is refused before anything has landed, so that the next run decides for itself. */
async function dropRefused({ landing }: Run, error: unknown): Promise<never> {
  const isRefused = error instanceof PricelakeError && ['budget', 'quota', 'snapshot_incomplete'].includes(error.code);
  const hasLanded = landing.journal.entries.some(({ type }) => type === 'export.begin' || type === 'poll.page');
  if (isRefused && !hasLanded) await dropRun(landing);
  throw error;
}
