import { readFile } from 'node:fs/promises';
import { countRows, NAMED_TABLES } from '../check/count-rows.js';
import { readKeptCounts } from '../check/kept-counts.js';
import { loadChecks } from '../check/load.js';
import { findReadTables } from '../check/read-tables.js';
import { ignoreMissing, privatePath } from '../lake/layout.js';
import { RelationGraph } from '../sql/graph.js';
import type { Proof } from './proof.js';
import { createReplayedViews } from './table-views.js';

const FILE = 'check-counts.json';

export const countProof: Proof = {
  name: 'counts',
  claims: 'What runs counted on, check by check, is what the check finds over all rows.',
  async prove(context, report) {
    const text = await readFile(privatePath(context.lake, FILE), 'utf8').catch(ignoreMissing);
    // What is of other files is not counted on.
    const kept = readKeptCounts(text, await loadChecks(), (table) => context.tables.get(table)?.files.keys());
    await createReplayedViews(context, [...new Set(kept.flatMap(({ planned }) => findReadTables(planned.check.sql)))]);
    const graph = new RelationGraph(context.db);
    for (const { planned, violations } of kept) {
      context.signal.throwIfAborted();
      const found = await countRows(graph, planned, NAMED_TABLES);
      if (found.violations === violations) continue;
      const what = `says ${violations} violations of ${planned.check.name}; there are ${found.violations}. Delete the file: the next run counts all rows`;
      report({ table: 'items', file: `_pricelake/${FILE}`, what });
    }
    return { count: BigInt(kept.length), of: 'checks' };
  },
};
