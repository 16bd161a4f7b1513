import { countBesideRun } from '../../plan/allowance.js';
import type { NextRun, SourceEstimate } from '../../run/open/wings.js';
import { findMissingHistories } from './fetch-histories.js';

/** The calls of the run that adds histories after a first copy: `/plan` twice, the feed or a poll, and the datasets. */
const RUN_BEHIND = 5;

/** Estimates the calls for item histories, or returns undefined if the pipeline doesn't request histories. */
export async function estimateHistories(next: NextRun): Promise<SourceEstimate | undefined> {
  const { pipeline, isFirst, graph, before, lake, journal, callsLeft, copied } = next;
  if (pipeline.source.history !== 'items') return undefined;
  // Before histories are downloaded, an unfinished run must be finished.
  if (!isFirst && journal.state.stage !== 'none') return undefined;
  const missing = isFirst
    ? Number(copied ?? 0n)
    : (await findMissingHistories(graph, lake, await before.rows('items'))).size;
  if (missing === 0) return undefined;
  const asked = countBesideRun(missing, callsLeft);
  const left = missing - asked;
  const { sample, products } = pipeline.proof;
  const behind = isFirst ? RUN_BEHIND + sample + (products ? 1 : 0) : 0;
  const rest = left === 0 ? '' : `; ${left} left for later`;
  return {
    step: 'histories',
    // `/plan` is read twice, before and after the histories.
    calls: asked + 2 + behind,
    basis: `histories of items, one call each, and a run that adds them${rest}`,
    bringsChanges: asked > 0,
  };
}
