import { readFile } from 'node:fs/promises';
import { countRows } from '../check/count-rows.js';
import { readKeptCounts } from '../check/kept-counts.js';
import { loadChecks } from '../check/load.js';
import { ignoreMissing, privatePath } from '../lake/layout.js';
import type { Proof } from './proof.js';
import { createReplayedViews } from './table-views.js';

const FILE = 'check-counts.json';

export const countProof: Proof = {
  name: 'counts',
  claims: 'What runs counted on, check by check, is what the check finds over all rows.',
  async prove(context, report) {
    const text = await readFile(privatePath(context.lake, FILE), 'utf8').catch(ignoreMissing);
    const kept = text === undefined ? undefined : readKeptCounts(text, await loadChecks());
    // Counts of another version are not counted on.
    if (kept === undefined || kept.itemsVersion !== BigInt(context.tables.get('items')?.version ?? -1))
      return { count: 0n, of: 'checks' };
    await createReplayedViews(context, ['items']);
    for (const { planned, violations } of kept.counts) {
      context.signal.throwIfAborted();
      const found = await countRows(context.db, planned);
      if (found.violations === violations) continue;
      const what = `says ${violations} violations of ${planned.check.name}; there are ${found.violations}. Delete the file: the next run counts all rows`;
      report({ table: 'items', file: `_pricelake/${FILE}`, what });
    }
    return { count: BigInt(kept.counts.length), of: 'checks' };
  },
};
