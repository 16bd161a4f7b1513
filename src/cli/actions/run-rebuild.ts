import { formatCount } from '../../formats/count.js';
import { describeLakePipeline } from '../../run/rebuild/lake-pipeline.js';
import { rebuildLake } from '../../run/rebuild/rebuild.js';
import type { Arguments, CommandContext } from '../command.js';
import type { rebuild } from '../commands/keep.js';
import { openPipeline } from '../find-target.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';

/**
 * Rebuilds every table of a lake from its raw bytes and shows what became of them.
 * @throws PricelakeError `config` if neither a pipeline file nor a lake is named or found
 */
export async function runRebuild(request: Arguments<typeof rebuild>, context: CommandContext) {
  const { io, signal, json, say, output } = context;
  const { pipeline: file, lake } = request;
  const isLakeAlone = file === undefined && lake !== undefined;
  const pipeline = isLakeAlone ? await describeLakePipeline(lake) : await openPipeline(request, context);
  const report = await rebuildLake(pipeline, io, signal, { acceptLoss: request.acceptLoss });
  if (!json) {
    const rows = report.tables.map(({ table, version, rowsBefore, rowsAfter }) => [
      table,
      String(version),
      formatCount(rowsBefore),
      formatCount(rowsAfter),
    ]);
    const columns = ['table', right('version'), right('rows before'), right('rows after')];
    await say(layOutTable(columns, rows, output.columns));
    const { length } = report.runs;
    const runs = length === 1 ? 'one run' : `${length} runs`;
    const source =
      length === 0
        ? 'Put back the files that the newest run left, without a call.'
        : `Made from the raw bytes of ${runs}, from ${report.runs[0]} on, without a call.`;
    await say(`${source}\n`);
    for (const what of report.damage) await say(`damaged: ${toPlainLine(what)}\n`);
    for (const what of report.carried) await say(`carried over: ${toPlainLine(what)}\n`);
    for (const what of report.lost) await say(`lost: ${toPlainLine(what)}\n`);
  }
  return { lake: pipeline.lake.path, ...report };
}
