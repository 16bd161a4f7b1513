import type { PlannedRun } from '../account/read-plan.js';
import { findMissingHistories } from '../backfill/fetch-histories.js';
import { countBesideRun, countCallsLeft } from '../plan/allowance.js';
import type { Ahead } from '../plan/estimate.js';
import { sql } from '../sql/sql.js';
import type { EstimateSource } from './estimate-source.js';

/** Calls of the run that adds the histories of a first copy: plan, feed or poll, datasets, and the plan once more. */
const RUN_BEHIND = 5;

/** The cost of reading items' histories one by one, if the pipeline asks for them. */
export async function estimateHistories(
  { pipeline, tables, graph, before, lake, journal }: EstimateSource,
  { gate }: PlannedRun,
  copied: bigint | undefined,
): Promise<Ahead['histories']> {
  if (pipeline.source.history !== 'items') return undefined;
  const isFirst = tables.items.version < 0n;
  // An unfinished run comes before them.
  if (!isFirst && journal.entries.length > 0) return undefined;
  const rows = isFirst
    ? []
    : await graph.rows(sql`SELECT item_id FROM ${await before.rows('items')} WHERE gone_at IS NULL`);
  const missing = isFirst ? Number(copied ?? 0n) : (await findMissingHistories(lake, rows)).length;
  if (missing === 0) return undefined;
  const asked = countBesideRun(missing, countCallsLeft(gate.left(), 0n));
  const { sample, products } = pipeline.proof;
  const behind = isFirst ? RUN_BEHIND + sample + (products ? 1 : 0) : 0;
  // The plan is asked for before them and behind them.
  return { calls: asked + 2 + behind, left: missing - asked };
}
