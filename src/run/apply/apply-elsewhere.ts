/** Applies many changes in workers, each to some of the items: the same models, over the rows of these items. */

import path from 'node:path';
import {
  describeJudging,
  type JudgedReads,
  type JudgedSources,
  type JudgingFacts,
  selectTaken,
} from '../../apply/judge-reads.js';
import {
  BASE_PIECE_COLUMNS,
  type BaseRows,
  type MergeBase,
  type MergeValues,
  selectBasePieces,
  selectMerged,
  type TouchedItems,
} from '../../apply/merge.js';
import type { ItemReads } from '../../apply/typed-rows.js';
import { groupBySize } from '../../lake/slices.js';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows, bindModel, type Needs, type Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, join, type Sql, sql } from '../../sql/sql.js';
import { writeEmptySelect } from '../../sql/table-relation.js';
import { countParts, WORKER_ROWS } from '../derive/divide.js';
import type { Run } from '../open/open-run.js';
import { type ApplySteps, type Relations, stepsHere } from './apply-steps.js';
import { ItemParts, type Read } from './item-parts.js';

/** In workers if there are enough changes and whole rows for a cluster to pay, else here. */
export async function chooseSteps(
  { graph, elsewhere, workFolder }: Run,
  { pending, exported, different }: { pending: Relation; exported: ItemReads; different: Relation },
): Promise<ApplySteps> {
  if (elsewhere === undefined) return stepsHere(graph);
  const changed = (await graph.count(pending)) + (await graph.count(different));
  if (!elsewhere.workers.pays(changed + exported.tally.typed)) return stepsHere(graph);
  const folder = path.join(workFolder, 'applied');
  return stepsElsewhere(graph, new ItemParts(graph, elsewhere, { folder, count: countParts(changed) }));
}

/** Steps that workers do. */
const stepsElsewhere = (graph: RelationGraph, parts: ItemParts): ApplySteps => ({
  readBase: (base, touched, exported) => readBaseElsewhere(graph, parts, base, touched, exported),
  narrowNeeds: (needs, values) => narrowNeedsElsewhere(graph, parts, needs, values),
  judge: (sources, facts) => judgeElsewhere(graph, parts, sources, facts),
  merge: (needs, values) => mergeElsewhere(parts, needs, values),
});

async function readBaseElsewhere(
  graph: RelationGraph,
  parts: ItemParts,
  base: MergeBase,
  touched: TouchedItems,
  { rows: all, inPieces }: ItemReads,
): Promise<BaseRows> {
  const selects = selectBasePieces(graph, base, touched, {
    exported: () => inPieces?.(WORKER_ROWS) ?? [sql`${all}`],
    stored: (files) => groupBySize(files, WORKER_ROWS),
  });
  const pieces = selects.map((select) => ({ select, count: () => graph.count(select) }));
  const found = await parts.find('base_rows', pieces, code(writeEmptySelect(BASE_PIECE_COLUMNS)));
  const select = (read: Read) => sql`SELECT ${columnsOf('items')} FROM ${read(found)}`;
  const rows = graph.view('base_items', select(asRows));
  parts.follow(rows, [found], select);
  if (base.kind === 'first') return { rows, all };
  if (base.kind !== 'lake') return { rows };
  return { rows, places: graph.view('base_places', sql`SELECT item_id, place AS filename FROM ${found}`) };
}

/** Workers find the items that changes ask for, so the model itself gets no changes. */
async function narrowNeedsElsewhere(
  graph: RelationGraph,
  parts: ItemParts,
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
  const found = await parts.compute('told_needs', [base_items, pending_changes], {
    select: (read) => bindModel('needs', { ...bindRead({ base_items, pending_changes }, read), ...others }, values),
    asked: (read) => sql`SELECT item_id FROM ${read(pending_changes)}`,
  });
  const doubted = sql`SELECT item_id, observed_at FROM ${doubted_items} UNION ALL SELECT item_id, observed_at FROM ${found}`;
  return {
    ...needs,
    base_items: graph.empty('no_items', 'items'),
    pending_changes: graph.empty('no_changes', 'history'),
    doubted_items: doubted,
  };
}

async function judgeElsewhere(
  graph: RelationGraph,
  parts: ItemParts,
  sources: JudgedSources,
  facts: JudgingFacts,
): Promise<JudgedReads> {
  const { needs: all, values } = describeJudging(sources, facts);
  const { needed_items, pending_changes, reread_items, stale_items } = all;
  const { inPieces } = sources.reread;
  if (inPieces !== undefined) await parts.divide(reread_items, inPieces(WORKER_ROWS));
  // Only changes of stale items are read of history.
  const stale = sql`SELECT * FROM ${all.history} SEMI JOIN ${stale_items} USING (item_id)`;
  const needs = { ...all, history: graph.table('stale_history', stale) };
  const judged = await parts.compute('judged_reads', Object.values(needs), {
    select: (read) => bindModel('judged_reads', bindRead(needs, read), values),
    asked: (read) => sql`SELECT item_id FROM ${read(needed_items)}
      UNION ALL SELECT item_id FROM ${read(pending_changes)} SEMI JOIN ${read(reread_items)} USING (item_id)`,
  });
  const select = (read: Read) => selectTaken(read(reread_items), read(judged));
  const taken = graph.view('taken_reads', select(asRows));
  parts.follow(taken, [reread_items, judged], select);
  return { judged, taken };
}

function mergeElsewhere(parts: ItemParts, needs: Relations<'apply'>, values: MergeValues): Promise<Relation> {
  const { renamed_datasets, renamed_sites, ...ofItems } = needs;
  const { base_items, missing_items, taken_reads } = ofItems;
  const ids = (read: Read) =>
    [base_items, missing_items, taken_reads].map((rows) => sql`SELECT item_id FROM ${read(rows)}`);
  return parts.compute('merged_items', Object.values(ofItems), {
    select: (read) => selectMerged(bindRead(needs, read), values),
    asked: (read) => join(ids(read), ' UNION ALL '),
  });
}

function bindRead<N extends Record<string, Relation>>(needs: N, read: Read): Record<keyof N, Sql> {
  const bound = Object.entries(needs).map(([name, rows]) => [name, sql`FROM ${read(rows)}`]);
  return Object.fromEntries(bound) as Record<keyof N, Sql>;
}
