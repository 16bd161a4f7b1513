import { compactLake } from '../../lake/compact.js';
import { type LockedLake, withLockedLake } from '../../lake/locked-lake.js';
import { withIceberg } from '../../wings/iceberg/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { lakeCompact } from '../commands/keep.js';
import { findTarget } from '../find-target.js';
import { layOutTable, right } from '../output/table-layout.js';

export async function runCompact(request: Arguments<typeof lakeCompact>, context: CommandContext) {
  const { io, signal, say, output } = context;
  const { lake: path, settings } = await findTarget(request);
  const join = async ({ db, lake, stop }: LockedLake) => {
    const tables = await compactLake(db, lake, 'always', io, { stop, targetBytes: request.fileSize });
    const cells = tables.map(({ table, version, filesBefore, filesAfter, rows }) => {
      return [table, String(version), filesBefore, filesAfter, rows];
    });
    const columns = ['table', ...['version', 'files before', 'files after', 'rows moved'].map(right)];
    const none = 'No table has small files to merge.\n';
    await say(tables.length === 0 ? none : layOutTable(columns, cells, output.columns));
    return { lake: lake.root, tables };
  };
  return withIceberg({ ...settings?.lake, path }, io, () =>
    withLockedLake(path, io, signal, join, settings?.lake.memory),
  );
}
