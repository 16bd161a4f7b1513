import { compactLake } from '../../lake/compact.js';
import { withLockedLake } from '../../lake/locked-lake.js';
import { createTableViews } from '../../lake/views.js';
import { type Align, layOutTable } from '../output/table-layout.js';
import { formatCount } from '../progress.js';
import { findTarget } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';

/** Joins the small files of a lake's tables and shows what became of them. */
export async function runCompact(
  { lake: named }: { lake?: string | undefined },
  context: CommandContext,
): Promise<CommandReport> {
  const { io, signal, say, output } = context;
  const { lake: path } = await findTarget({ lake: named }, process.env);
  return withLockedLake(path, io, signal, async ({ db, lake, stop }) => {
    await createTableViews(db, lake);
    const compactions = await compactLake(db, lake, 'always', io, stop);
    if (compactions.length === 0) await say('No table has small files to join.\n');
    else {
      const rows = compactions.map(({ table, version, filesBefore, filesAfter, rows: count }) => [
        table,
        String(version),
        formatCount(filesBefore),
        formatCount(filesAfter),
        formatCount(count),
      ]);
      const aligns: Align[] = ['left', 'right', 'right', 'right', 'right'];
      const head = ['table', 'version', 'files before', 'files after', 'rows moved'];
      await say(layOutTable(head, rows, aligns, output.columns));
    }
    return { lake: lake.root, tables: compactions };
  });
}
