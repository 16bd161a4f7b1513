import { askFacets } from '../../run/land/facets.js';
import type { Wing } from '../wing.js';
import { establishListing } from './establish-listing.js';
import { estimateListing } from './estimate-listing.js';
import { proveCopy } from './prove-copy.js';

/** Determines which items are listed, based on the service's own counts. */
export const listing: Wing = {
  listing: {
    async ask(world, landing, plan) {
      await askFacets(world, landing, plan);
    },
    async establish(run) {
      const absence = await proveCopy(run);
      await establishListing(run);
      return absence;
    },
    estimate: estimateListing,
  },
};
