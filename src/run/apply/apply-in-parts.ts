/** Applies changes to items. The items can be divided into parts, because no step combines rows of different items. */

import path from 'node:path';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows, bindModel, type ModelName, type Needs, type Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import type { Engine } from '../open/run-parts.js';
import {
  describeJudging,
  type JudgedReads,
  type JudgedSources,
  type JudgingFacts,
  selectTaken,
} from './judge-reads.js';
import { type MergeValues, selectMerged } from './merge.js';
import { type Read, RowsInParts } from './rows-in-parts.js';

type Relations<M extends ModelName> = Record<keyof Needs<M>, Relation>;

/** The estimated memory for applying one change, in bytes. */
const BYTES_OF_CHANGE = 400;

/** Divides the items into parts whose changes fit in memory. If few items change, there is only one part. */
export async function divideItems(
  { graph, workFolder, memoryLimit }: Engine,
  { pending, different }: { pending: Relation; different: Relation },
): Promise<RowsInParts> {
  const changed = (await graph.count(pending)) + (await graph.count(different));
  const count = Math.max(1, Math.ceil((Number(changed) * BYTES_OF_CHANGE) / memoryLimit));
  return new RowsInParts(graph, { folder: path.join(workFolder, 'applied'), count, key: 'item_id' });
}

/**
 * Returns the relations for the `needs` model. If the items are divided, runs the model on each part of the base rows
 * and changes. Then returns empty base rows and changes, and adds the ids that the model found to `doubted_items`.
 */
export async function narrowNeeds(
  graph: RelationGraph,
  parts: RowsInParts,
  needs: Relations<'needs'>,
  values: Values<'needs'>,
): Promise<Needs<'needs'>> {
  if (parts.count === 1) return needs;
  const { base_items, doubted_items, pending_changes } = needs;
  const none = sql`SELECT * FROM ${doubted_items} WHERE false`;
  const others = {
    doubted_items: none,
    rejected_items: none,
    stale_items: sql`SELECT * FROM ${needs.stale_items} WHERE false`,
  };
  const found = await parts.compute('told_needs', [base_items, pending_changes], (read) =>
    bindModel('needs', { ...bindRead({ base_items, pending_changes }, read), ...others }, values),
  );
  const doubted = sql`SELECT item_id, observed_at FROM ${doubted_items} UNION ALL SELECT item_id, observed_at FROM ${found}`;
  return {
    ...needs,
    base_items: graph.empty('no_items', 'items'),
    pending_changes: graph.empty('no_changes', 'history'),
    doubted_items: doubted,
  };
}

export async function judgeReads(
  graph: RelationGraph,
  parts: RowsInParts,
  sources: JudgedSources,
  facts: JudgingFacts,
): Promise<JudgedReads> {
  const { needs: all, values } = describeJudging(sources, facts);
  const { reread_items, stale_items } = all;
  // Keeps only the history of stale items, because `judged_reads` reads no other history rows.
  const stale = sql`SELECT * FROM ${all.history} SEMI JOIN ${stale_items} USING (item_id)`;
  const needs = { ...all, history: graph.table('stale_history', stale) };
  const judged = await parts.compute('judged_reads', Object.values(needs), (read) =>
    bindModel('judged_reads', bindRead(needs, read), values),
  );
  const select = (read: Read) => selectTaken(read(reread_items), read(judged));
  const taken = graph.rowsOf('taken_reads', select(asRows), await graph.count(judged));
  parts.follow(taken, [reread_items, judged], select);
  return { judged, taken };
}

/** Computes the new rows of the items that the run changes. */
export function mergeRows(parts: RowsInParts, needs: Relations<'apply'>, values: MergeValues): Promise<Relation> {
  const { renamed_datasets, renamed_sites, ...ofItems } = needs;
  return parts.compute('merged_items', Object.values(ofItems), (read) => selectMerged(bindRead(needs, read), values));
}

function bindRead<N extends Record<string, Relation>>(needs: N, read: Read): Record<keyof N, Sql> {
  const bound = Object.entries(needs).map(([name, rows]) => [name, sql`FROM ${read(rows)}`]);
  return Object.fromEntries(bound) as Record<keyof N, Sql>;
}
