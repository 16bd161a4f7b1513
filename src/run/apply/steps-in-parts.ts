/** Applies many changes in parts: the same models, over the rows of some of the items at a time. */

import path from 'node:path';
import {
  describeJudging,
  type JudgedReads,
  type JudgedSources,
  type JudgingFacts,
  selectTaken,
} from '../../apply/judge-reads.js';
import { type MergeValues, selectMerged } from '../../apply/merge.js';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows, bindModel, type Needs, type Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import type { Engine } from '../open/run-parts.js';
import { type ApplySteps, type Relations, stepsAtOnce } from './apply-steps.js';
import { DividedRows, type Read } from './divided-rows.js';

/** Memory that a change takes while it is applied: with more of them, items are worked on part by part. */
const BYTES_OF_CHANGE = 400;

/** Steps that read all items at once, or one part of them after the other if so many change that memory would not do. */
export async function chooseSteps(
  { graph, workFolder, memoryLimit }: Engine,
  { pending, different }: { pending: Relation; different: Relation },
): Promise<ApplySteps> {
  const changed = (await graph.count(pending)) + (await graph.count(different));
  const count = Math.ceil((Number(changed) * BYTES_OF_CHANGE) / memoryLimit);
  if (count < 2) return stepsAtOnce(graph);
  return stepsInParts(graph, new DividedRows(graph, { folder: path.join(workFolder, 'applied'), count }));
}

export const stepsInParts = (graph: RelationGraph, parts: DividedRows): ApplySteps => ({
  narrowNeeds: (needs, values) => narrowNeedsInParts(graph, parts, needs, values),
  judge: (sources, facts) => judgeInParts(graph, parts, sources, facts),
  merge: (needs, values) => mergeInParts(parts, needs, values),
});

/** The items that changes ask for are found in parts, so the model itself gets no changes. */
async function narrowNeedsInParts(
  graph: RelationGraph,
  parts: DividedRows,
  needs: Relations<'needs'>,
  values: Values<'needs'>,
): Promise<Needs<'needs'>> {
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

async function judgeInParts(
  graph: RelationGraph,
  parts: DividedRows,
  sources: JudgedSources,
  facts: JudgingFacts,
): Promise<JudgedReads> {
  const { needs: all, values } = describeJudging(sources, facts);
  const { reread_items, stale_items } = all;
  // Only changes of stale items are read of history.
  const stale = sql`SELECT * FROM ${all.history} SEMI JOIN ${stale_items} USING (item_id)`;
  const needs = { ...all, history: graph.table('stale_history', stale) };
  const judged = await parts.compute('judged_reads', Object.values(needs), (read) =>
    bindModel('judged_reads', bindRead(needs, read), values),
  );
  const select = (read: Read) => selectTaken(read(reread_items), read(judged));
  const taken = graph.view('taken_reads', select(asRows));
  parts.follow(taken, [reread_items, judged], select);
  return { judged, taken };
}

function mergeInParts(parts: DividedRows, needs: Relations<'apply'>, values: MergeValues): Promise<Relation> {
  const { renamed_datasets, renamed_sites, ...ofItems } = needs;
  return parts.compute('merged_items', Object.values(ofItems), (read) => selectMerged(bindRead(needs, read), values));
}

function bindRead<N extends Record<string, Relation>>(needs: N, read: Read): Record<keyof N, Sql> {
  const bound = Object.entries(needs).map(([name, rows]) => [name, sql`FROM ${read(rows)}`]);
  return Object.fromEntries(bound) as Record<keyof N, Sql>;
}
