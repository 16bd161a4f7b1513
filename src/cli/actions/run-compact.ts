import { parseSize } from '../../config/size.js';
import { PricelakeError } from '../../errors/errors.js';
import { formatCount } from '../../formats/count.js';
import { compactLake } from '../../lake/compact.js';
import { type LockedLake, withLockedLake } from '../../lake/locked-lake.js';
import { type Align, layOutTable } from '../output/table-layout.js';
import { findTarget } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export interface CompactRequest {
  lake?: string | undefined;
  'file-size'?: string | undefined;
}

/** Joins the small files of a lake's tables and shows what became of them. */
export async function runCompact(request: CompactRequest, context: CommandContext): Promise<CommandReport> {
  const { io, signal, say, output } = context;
  const { lake: path, settings } = await findTarget(request, process.env);
  const compact = async ({ db, lake, stop }: LockedLake) => {
    const compactions = await compactLake(db, lake, 'always', io, {
      stop,
      targetBytes: readSize(request['file-size']),
    });
    if (compactions.length === 0) await say('No table has small files to join.\n');
    if (compactions.length > 0) {
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
  };
  return withLockedLake(path, io, signal, compact, settings?.lake.memory);
}

function readSize(text: string | undefined): number | undefined {
  const bytes = text === undefined ? undefined : parseSize(text);
  if (text === undefined || bytes !== undefined) return bytes;
  throw new PricelakeError('usage', `--file-size ${text} is not a size such as 64MB or 1GB`);
}
