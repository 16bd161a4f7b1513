import type { WatchedRun, Witness } from '../../run/open/witness.js';
import { findItemPath } from '../../tables/item-names.js';
import type { Wing } from '../wing.js';
import { DriftWatch } from './drift-watch.js';
import { listDrift } from './list-drift.js';

const witness: Witness = {
  watch: ({ io, pipeline: { source, checks } }: WatchedRun) => {
    const drift = new DriftWatch({ '/export': (parent, name) => findItemPath(parent, name, source.mapping) });
    return {
      look: drift.look,
      conclude: () => {
        const found = listDrift(drift.seen);
        if (found.length > 0) io.log('info', 'schema.drift', { found });
        // The check `schema_drift` reads this column of the runs table.
        return { schema_drift: checks.schema_drift?.severity === 'off' ? '[]' : JSON.stringify(found) };
      },
    };
  },
};

export const drift: Wing = { witnesses: [witness] };
