/** Computes the change to each table from the compared rows and the item reads that are current enough. */

import type { Io } from '../../io/io.js';
import type { TableChange } from '../../lake/table-change.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { type Sql, sql } from '../../sql/sql.js';
import type { DatasetNames } from '../../typing/dataset-names.js';
import { describeSkew, type FeedSkew } from '../../typing/feed-skew.js';
import { countTyped } from '../../typing/typed-rows.js';
import type { Moment } from '../open/wings.js';
import { type JudgedRun, listTouched } from './apply.js';
import { mergeRows } from './apply-in-parts.js';
import { findAhead } from './changes.js';
import type { Comparison } from './compare-rows.js';
import { findStaleItems, type StaleItems } from './judge-reads.js';
import { extendHistory, type Merge, mergeItems, readBase } from './merge.js';
import { selectRejects } from './rejects.js';
import { findSites, type NextSites } from './sites.js';

export interface Batch {
  merge: Merge;
  comparison: Comparison;
  /** The number of changes that aren't in history yet. */
  newChanges: bigint;
  /** The id of the newest change in history beyond the feed's cursor; 0 if there is none. */
  ahead: bigint;
  stale: StaleItems;
  unnamed: bigint;
  history: TableChange;
  sites: NextSites;
  /** The rejected rows; undefined if there are none. */
  rejects: Sql | undefined;
  tally: Record<'written' | 'rejected' | 'deduplicated', bigint>;
  moment: Moment;
  skew: FeedSkew;
  names: DatasetNames;
  datasetPattern: string | null;
}

export async function mergeRun(io: Io, before: LakeRows, graph: RelationGraph, judged: JudgedRun): Promise<Batch> {
  const {
    landed,
    lake,
    changeFiles,
    changes,
    pending,
    base,
    parts,
    itemFiles,
    exported,
    reread,
    compared,
    reads,
    skew,
  } = judged;
  const { runId } = landed;
  const { at } = judged.moment;
  const { applyFrom, watermark } = landed.window;
  const stale = await findStaleItems(graph, reads, {
    stale_items: lake.stale_items,
    exported_items: exported.rows,
    runId,
  });
  if (stale.count > 0n) io.log('warn', 'items.stale', { items: stale.count });
  const sources = { sites: lake.sites, changes: changes.typed, exported, reread };
  const sites = await findSites(graph, sources, { runId, at, applyFrom: watermark ?? applyFrom });
  const renamed = { sites: sites.renamed, datasets: judged.renamedDatasets };
  const isRenamed = sites.renamedCount > 0n || judged.renames.length > 0;
  const touched = { ...listTouched(judged), renamed };
  const baseRows = isRenamed ? await readBase(graph, base, touched) : judged.baseRows;
  const { gone, differences, missed } = compared.counts;
  const needs = {
    ...{ base_items: baseRows.rows, different_items: compared.different, missing_items: compared.missing },
    ...{ pending_changes: pending, taken_reads: reads.taken },
    ...{ renamed_datasets: renamed.datasets, renamed_sites: renamed.sites },
  };
  const values = { ...describeSkew(skew), run_id: runId, watermark: watermark ?? null, gone };
  const merge = await mergeItems(graph, base, baseRows, await mergeRows(parts, needs, values));
  const typedRows = countTyped(itemFiles) + countTyped(changeFiles);
  const good = exported.tally.typed + reread.tally.typed + changes.tally.typed;
  const newChanges = changes.tally.typed - changes.tally.repeated;
  const written = newChanges + (await countWritten(graph, judged));
  const history = await extendHistory(
    graph,
    await before.table('history'),
    // An item that the lake lacks may add two rows to history, one for its listing and one for its removal.
    { fresh: changes.fresh, diffs: compared.changes, maxRows: newChanges + 2n * (differences + missed) },
    skew,
  );
  return {
    ...{ merge, comparison: compared.counts, newChanges, stale, history, sites, moment: judged.moment, skew },
    ...{ unnamed: judged.unnamed, names: judged.names, datasetPattern: judged.datasetPattern },
    ahead: await findAhead(graph, landed.window, changes),
    rejects: typedRows === good ? undefined : selectRejects([...itemFiles, ...changeFiles], { runId, at }),
    tally: { written, rejected: typedRows - good, deduplicated: good - written },
  };
}

/** Counts the complete rows that the run stores in items. Counts an item that was also read individually only once. */
async function countWritten(graph: RelationGraph, { base, exported, compared, reads }: JudgedRun): Promise<bigint> {
  const rereads = await graph.count(reads.taken);
  if (base.kind === 'lake') return rereads;
  const rows = base.kind === 'first' ? exported.rows : compared.different;
  const replaced = await graph.count(sql`FROM ${rows} SEMI JOIN ${reads.taken} USING (item_id)`);
  const whole =
    base.kind === 'first' ? exported.tally.typed - exported.tally.repeated : await graph.count(compared.different);
  return whole - replaced + rereads;
}
