import { describeLakePipeline } from '../../run/rebuild/lake-pipeline.js';
import { withIceberg } from '../../wings/iceberg/index.js';
import { rebuildWithWings } from '../../wings/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { lakeRebuild } from '../commands/keep.js';
import { openPipeline } from '../find-target.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';

/** Rebuilds a lake. @throws PricelakeError `config` if there is neither a pipeline file nor `--lake` */
export async function runRebuild(request: Arguments<typeof lakeRebuild>, context: CommandContext) {
  const { io, signal, json, say, output } = context;
  const { pipeline: file, lake } = request;
  const isLakeAlone = file === undefined && lake !== undefined;
  const pipeline = isLakeAlone ? await describeLakePipeline(lake) : await openPipeline(request, context);
  const report = await withIceberg(pipeline.lake, io, () =>
    rebuildWithWings(pipeline, io, signal, { acceptLoss: request.acceptLoss }),
  );
  if (!json) {
    const { tables, runs, damage, carried, lost } = report;
    const cells = tables.map(({ table, version, rowsBefore, rowsAfter }) => {
      return [table, String(version), rowsBefore, rowsAfter];
    });
    const columns = ['table', ...['version', 'rows before', 'rows after'].map(right)];
    await say(layOutTable(columns, cells, output.columns));
    const many = runs.length === 1 ? 'one run' : `${runs.length} runs`;
    const source =
      runs.length === 0
        ? "Restored the newest run's files without any API calls."
        : `Rebuilt from the raw bytes of ${many}, starting with ${runs[0]}, without any API calls.`;
    await say(`${source}\n`);
    for (const [fate, texts] of Object.entries({ damaged: damage, 'carried over': carried, lost })) {
      for (const text of texts) await say(`${fate}: ${toPlainLine(text)}\n`);
    }
  }
  return { lake: pipeline.lake.path, ...report };
}
