import { type JudgedReads, type JudgedSources, type JudgingFacts, judgeReads } from '../../apply/judge-reads.js';
import {
  type BaseRows,
  type MergeBase,
  type MergeValues,
  readBase,
  selectMerged,
  type TouchedItems,
} from '../../apply/merge.js';
import type { ItemReads } from '../../apply/typed-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { ModelName, Needs, Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';

/** The needs of a model, all of them relations. */
export type Relations<M extends ModelName> = Record<keyof Needs<M>, Relation>;

/** Steps of applying changes that look at the rows of one item at a time. */
export interface ApplySteps {
  /** Rows, before the run, of all items that may change. */
  readBase(base: MergeBase, touched: TouchedItems, exported: ItemReads): Promise<BaseRows>;
  /** The relations that the model `needs` still has to read. */
  narrowNeeds(needs: Relations<'needs'>, values: Values<'needs'>): Promise<Needs<'needs'>>;
  judge(sources: JudgedSources, facts: JudgingFacts): Promise<JudgedReads>;
  /** The rows that change, as they are after the run. */
  merge(needs: Relations<'apply'>, values: MergeValues): Promise<Relation>;
}

/** Steps that are done here. */
export const stepsHere = (graph: RelationGraph): ApplySteps => ({
  readBase: (base, touched) => readBase(graph, base, touched),
  narrowNeeds: async (needs) => needs,
  judge: (sources, facts) => judgeReads(graph, sources, facts),
  merge: async (needs, values) => graph.table('merged_items', selectMerged(needs, values)),
});
