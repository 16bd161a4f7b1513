import type { WatchedRun, Witness } from '../../run/open/witness.js';
import type { Wing } from '../wing.js';
import { proveFacets } from './prove-facets.js';

const witness: Witness = {
  watch: ({ io, graph, landing }: WatchedRun) => ({
    async judge({ rows, readable }) {
      const answer = landing.journal.state.comparisons.facets;
      if (answer === undefined) return { findings: {} };
      const found = await proveFacets(io, graph, await rows('items'), answer, readable);
      return {
        findings: {
          facets_compared: found.compared,
          facets_different: found.different,
          facet_differences: found.differences,
        },
      };
    },
  }),
};

/** After a full copy, compares the service's counts in `/facets` with the items in the lake. */
export const facets: Wing = { witnesses: [witness] };
