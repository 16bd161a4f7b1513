import type { NextVersion, PlannedNext, Watch, WatchedRun, Witness } from '../../run/open/witness.js';
import type { Wing } from '../wing.js';
import { type AskedSample, askSample, chooseSample } from './choose-sample.js';
import { compareDescribed } from './compare-described.js';
import { proveRunSample } from './prove-sample.js';

export { proveItems } from './prove-sample.js';

function watch(run: WatchedRun): Watch {
  const { io, client, landing, graph, typing } = run;
  let asked: AskedSample | undefined;
  return {
    compareDescribed: (described) => compareDescribed(run, described),
    async ask({ plan, rows, readable, alreadyRead }) {
      const size = plan.comparisons.sample;
      if (size === 0) return async () => {};
      // The sample is chosen before tables are derived, because each of these steps needs much memory.
      const sampled = { items: await rows('items'), readable, first: alreadyRead };
      const chosen = await chooseSample(graph, sampled, size, landing.runId);
      return async () => {
        asked = await askSample({ client, io }, landing, chosen);
      };
    },
    async judge(next: NextVersion) {
      const [history, stale_items] = [await next.rows('history'), await next.rows('stale_items')];
      const compared = await proveRunSample(io, { graph, typing }, asked, { ...next, history, stale_items });
      return {
        findings: {
          sampled: compared.sampled,
          sample_mismatches: compared.mismatches,
          mismatch_bound: compared.bound,
          sample_differences: compared.differences,
        },
      };
    },
  };
}

async function estimate({ plan, journal }: PlannedNext) {
  const calls = journal.state.comparisons.missing === undefined ? plan.comparisons.sample : 0;
  return { step: 'sample', calls, basis: 'items to compare with the lake' };
}

const witness: Witness = { watch, estimate };

export const sample: Wing = { witnesses: [witness] };
