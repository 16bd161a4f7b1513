/** Applies many changes in parts: the same models, over the rows of some of the items at a time. */

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
import { join, type Sql, sql } from '../../sql/sql.js';
import { WORKER_ROWS } from '../derive/divide.js';
import type { ApplySteps, Relations } from './apply-steps.js';
import type { DividedRows, Read } from './divided-rows.js';

/** Rows of items in parts, for work that needs no other item's rows. */
export interface Parts {
  /** Divides rows that are read in parts later. @param sources the same rows in groups */
  divide(rows: Relation, sources: readonly Sql[]): Promise<void>;
  /** Notes that the rows of a part follow from others of the same part. */
  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void;
  /**
   * Computes rows part by part.
   * @param from the relations that both queries read in parts
   * @param asked selects the items whose rows are computed, by `item_id`
   */
  compute(
    label: string,
    from: readonly Relation[],
    { select, asked }: Record<'select' | 'asked', (read: Read) => Sql>,
  ): Promise<Relation>;
}

/** Parts whose rows are computed here, one part after the other. */
export const partsHere = (graph: RelationGraph, divided: DividedRows): Parts => ({
  divide: async () => {},
  follow: (...rows) => divided.follow(...rows),
  compute: async (label, from, { select }) => {
    const ofPart = await divided.ofParts(from);
    const [first, ...others] = Array.from({ length: divided.count }, (_, part) => select(ofPart(part)));
    return graph.table(label, first as Sql, ...others);
  },
});

export const stepsInParts = (graph: RelationGraph, parts: Parts): Omit<ApplySteps, 'readBase'> => ({
  narrowNeeds: (needs, values) => narrowNeedsInParts(graph, parts, needs, values),
  judge: (sources, facts) => judgeInParts(graph, parts, sources, facts),
  merge: (needs, values) => mergeInParts(parts, needs, values),
});

/** The items that changes ask for are found in parts, so the model itself gets no changes. */
async function narrowNeedsInParts(
  graph: RelationGraph,
  parts: Parts,
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

async function judgeInParts(
  graph: RelationGraph,
  parts: Parts,
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

function mergeInParts(parts: Parts, needs: Relations<'apply'>, values: MergeValues): Promise<Relation> {
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
