import type { Argv, CommandModule } from 'yargs';
import { PricelakeError } from '../../errors/errors.js';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';
import { RESUME_HINT } from '../stop-signals.js';

interface BackfillOptions {
  what: 'history';
  pipeline?: string;
  lake?: string;
  items?: string;
  where?: string;
}

export const backfillCommand: CommandModule<object, BackfillOptions> = {
  command: 'backfill <what> [pipeline]',
  describe: "Read the history of chosen items, and add what the lake's history lacks",
  builder: (args: Argv) =>
    args
      .positional('what', { choices: ['history'] as const, demandOption: true, describe: 'What to read' })
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .option('items', { type: 'string', requiresArg: true, describe: 'Item ids, separated by commas' })
      .option('where', {
        type: 'string',
        requiresArg: true,
        describe: 'Items that match this SQL condition on table items',
      })
      .conflicts('items', 'where')
      .example('$0 backfill history --items 4711,4712', 'Two calls, and a run')
      .example(`$0 backfill history --where "product_id = '4006381333931'"`, 'All offers of a product')
      .epilogue(
        `Makes one call for each item, and reads as far back as the plan's history reaches. If a backfill stops, run the same command again: it continues where it stopped. Its rows have origin history. A change that is already there is not added twice.`,
      ) as Argv<BackfillOptions>,
  handler: (argv) =>
    runCommand(
      argv,
      async ({ io, signal, say, style }) => {
        const [{ findPipeline }, { readPipeline }, { backfillHistory }, { describeReport, formatReport }] =
          await Promise.all([
            import('../../config/find-pipeline.js'),
            import('../../config/pipeline-file.js'),
            import('../../sync/backfill-history.js'),
            import('../run-report.js'),
          ]);
        const selection = readSelection(argv);
        const pipeline = await readPipeline(await findPipeline(argv.pipeline, process.env), process.env);
        if (argv.lake !== undefined) pipeline.lake.path = argv.lake;
        io.protectSecret(pipeline.source.apiKey);
        const { items, asked, run } = await backfillHistory(pipeline, selection, io, signal);
        await say(`Histories of ${items} items, ${asked} of them read now.\n`);
        await say(formatReport(run, pipeline.lake.path, style));
        return { items_chosen: items, histories_read: asked, ...describeReport(run, pipeline.lake.path) };
      },
      RESUME_HINT,
    ),
};

function readSelection({ items, where }: BackfillOptions) {
  if (where !== undefined) return { where };
  const ids = items?.split(',').map((id) => id.trim()) ?? [];
  if (ids.length === 0) throw new PricelakeError('usage', 'name items with --items, or choose them with --where');
  const wrong = ids.find((id) => !/^\d{1,19}$/.test(id) || BigInt(id) > 9223372036854775807n);
  if (wrong !== undefined) throw new PricelakeError('usage', `--items: "${wrong}" is not an item id`);
  return { itemIds: [...new Set(ids)].map(BigInt) };
}
