import { countOf, formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { backfillHistory } from '../backfill-history.js';
import type { Arguments, CommandContext } from '../command.js';
import type { backfill } from '../commands/copy.js';
import { openPipeline } from '../find-target.js';
import { describeReport, formatReport } from '../run-report.js';

/** @throws PricelakeError `usage` if no items are chosen */
export async function runBackfill(request: Arguments<typeof backfill>, context: CommandContext) {
  const { io, signal, say, style } = context;
  const selection = readSelection(request);
  const pipeline = await openPipeline(request, context);
  const { items, asked, run } = await backfillHistory(pipeline, selection, io, signal);
  await say(`Histories of ${countOf(items, 'item')}; ${formatCount(asked)} read in this run.\n`);
  await say(formatReport(run, pipeline.lake.path, { style, columns: context.output.columns }));
  return { items_chosen: items, histories_read: asked, ...describeReport(run, pipeline.lake.path) };
}

function readSelection({ items, where }: Arguments<typeof backfill>) {
  if (where !== undefined) return { where };
  if (items !== undefined) return { itemIds: items };
  throw new PricelakeError('usage', 'list items with --items, or select them with --where');
}
