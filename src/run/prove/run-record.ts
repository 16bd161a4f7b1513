import { version as duckdbVersion } from '@duckdb/node-api';
import { countOf, formatCount } from '../../formats/count.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { countKept } from '../../journal/exports.js';
import { type Landing, readBegin } from '../../journal/landings.js';
import { type RunProgress, sumLanded } from '../../journal/run-state.js';
import { countRows } from '../../lake/slices.js';
import type { RunsRow } from '../../tables/rows.js';
import type { RunMode } from '../../tables/table.js';
import { UNKNOWN_SKEW } from '../../typing/feed-skew.js';
import { type Comparison, NO_COMPARISON } from '../apply/compare-rows.js';
import type { Batch } from '../apply/merge-run.js';
import type { LandedInput } from '../land/land-run.js';
import { NO_USAGE, type Usage } from '../open/account.js';
import { noteCalls } from '../open/open-run.js';
import type { FoundLake, World } from '../open/run-parts.js';
import { type Findings, NOTHING_WITNESSED, type Watch } from '../open/witness.js';

/** A row of the runs table (schemas/runs.yaml). */
export type RunRow = RunsRow & { mode: RunMode };

const NO_ROWS: Batch['tally'] = { written: 0n, rejected: 0n, deduplicated: 0n };

/** The results of comparing the lake with the service. */
interface RunFindings extends Comparison {
  witnessed: Findings;
  usage: Usage;
  /** The number of items after the run; undefined if the number hasn't changed. */
  items: bigint | undefined;
}

const NO_FINDINGS: RunFindings = { ...NO_COMPARISON, witnessed: {}, usage: NO_USAGE, items: undefined };

/** The results of a run. Each property is undefined if the run skipped the step that sets it. */
interface Outcome {
  tally?: Batch['tally'];
  applied?: Pick<Batch, 'stale' | 'unnamed' | 'skew'>;
  findings?: RunFindings;
}

export async function describeRun(
  { io, client, watches }: World,
  { tables }: FoundLake,
  landing: Landing,
  landed: LandedInput,
  { tally = NO_ROWS, applied, findings = NO_FINDINGS }: Outcome = {},
): Promise<RunRow> {
  const { journal } = landing;
  await journal.append(noteCalls(client));
  const progress = journal.state;
  const begin = readBegin(landing);
  const finished = io.now();
  const { skew = UNKNOWN_SKEW, unnamed = 0n } = applied ?? {};
  const received = sumLanded(progress);
  return {
    run_number: landing.runNumber,
    run_id: landing.runId,
    pipeline: begin.pipeline,
    mode: landed.mode,
    reason: explainRun(landed, progress, unnamed),
    started_at: begin.at,
    finished_at: finished.toISOString(),
    seconds: (finished.getTime() - Date.parse(begin.at)) / 1000,
    tries: BigInt(progress.calls.tries),
    cursor_from: begin.cursorFrom,
    cursor_to: landed.window.to ?? begin.cursorFrom,
    ...describeCurrency(landed, progress, applied?.stale.count ?? 0n, unnamed),
    feed_skew_us: skew.isKnown ? skew.us : null,
    calls: BigInt(progress.calls.made),
    calls_refused: BigInt(progress.calls.refused),
    ...describeExports(progress),
    ...findings.usage,
    bytes_received: BigInt(received.bytes),
    received: received.rows,
    written: tally.written,
    rejected: tally.rejected,
    deduplicated: tally.deduplicated,
    differences: findings.differences,
    difference_columns: findings.columns,
    missed: findings.missed,
    gone: findings.gone,
    ...NOTHING_WITNESSED,
    ...findings.witnessed,
    ...concludeWatches(watches),
    items: findings.items ?? countRows(tables.items.files),
    pricelake_version: PRICELAKE_VERSION,
    duckdb_version: duckdbVersion(),
  };
}

/** Explains the run's mode, the work that it skipped for lack of calls, and the facts that it couldn't determine. */
function explainRun({ mode, plan }: LandedInput, { sources, decision, listing }: RunProgress, unnamed: bigint): string {
  const before = mode === 'feed' ? plan.unknownListing : 0n;
  const reasons = [
    decision?.reason ?? '',
    ...[...sources.values()].map(({ done }) => done?.remark ?? ''),
    listing.done?.reason ?? '',
    mode === 'poll' || unnamed === 0n ? '' : `${formatCount(unnamed)} changes or rows don't name their items`,
    before === 0n ? '' : `an earlier run couldn't determine whether up to ${countOf(before, 'item')} are listed`,
  ];
  return reasons.filter((reason) => reason !== '').join('; ');
}

/**
 * Determines the time as of which the lake is current. This is the time when the run reached the feed's end or, without
 * the feed, read the items. The time is unknown after a poll that may have missed removals, or if changes or rows don't
 * name their item. If this run reads only the feed, the time is also unknown if an earlier run left items with an
 * unknown listing state.
 */
function describeCurrency(
  { mode, feed, lowWatermark, plan }: LandedInput,
  { listing }: RunProgress,
  stale: bigint,
  unnamed: bigint,
): Pick<RunRow, 'caught_up' | 'caught_up_at' | 'listing_unknown' | 'stale_items'> {
  const before = mode === 'feed' ? plan.unknownListing : 0n;
  const found = listing.done?.unknown ?? (mode === 'poll' ? null : 0n);
  const unknown = mode === 'poll' || found === null ? found : found + before + unnamed;
  const at = feed?.complete === true ? feed.at : lowWatermark?.at;
  const known = unknown === 0n ? at : undefined;
  return {
    caught_up: known !== undefined && stale === 0n,
    caught_up_at: known ?? null,
    listing_unknown: unknown,
    stale_items: stale,
  };
}

/** Counts the export rows that the run has kept. An export of changed items counts only if it is complete. */
function describeExports({ exports }: RunProgress) {
  const { kept, landed, lost } = countKept(exports);
  const { overage, blocks } = exports;
  return {
    export_rows: kept,
    export_rows_landed: landed,
    export_rows_lost: lost,
    overage,
    overage_blocks: blocks,
  };
}

function concludeWatches(watches: readonly Watch[]): Findings {
  return Object.assign({}, ...watches.map(({ conclude }) => conclude?.())) as Findings;
}
