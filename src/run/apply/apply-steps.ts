import { type JudgedReads, type JudgedSources, type JudgingFacts, judgeReads } from '../../apply/judge-reads.js';
import { type MergeValues, selectMerged } from '../../apply/merge.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { ModelName, Needs, Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';

/** The needs of a model, all of them relations. */
export type Relations<M extends ModelName> = Record<keyof Needs<M>, Relation>;

/** Steps of applying changes that look at the rows of one item at a time. */
export interface ApplySteps {
  /** The relations that the model `needs` still has to read. */
  narrowNeeds(needs: Relations<'needs'>, values: Values<'needs'>): Promise<Needs<'needs'>>;
  judge(sources: JudgedSources, facts: JudgingFacts): Promise<JudgedReads>;
  /** The rows that change, as they are after the run. */
  merge(needs: Relations<'apply'>, values: MergeValues): Promise<Relation>;
}

/** Steps that read all items at once. */
export const stepsAtOnce = (graph: RelationGraph): ApplySteps => ({
  narrowNeeds: async (needs) => needs,
  judge: (sources, facts) => judgeReads(graph, sources, facts),
  merge: async (needs, values) => graph.table('merged_items', selectMerged(needs, values)),
});
