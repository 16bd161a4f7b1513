import { type Compaction, compactLake } from '../lake/compact.js';
import { createTableView } from '../lake/views.js';
import type { Run } from '../run/open-run.js';

/** Joins the small files of tables that have many, after the run has published. Costs nothing where there are few. */
export async function compactRun({ db, lake, io, stop }: Run): Promise<Compaction[]> {
  await createTableView(db, lake, 'sites', 'sites');
  return compactLake(db, lake, 'due', io, stop);
}
