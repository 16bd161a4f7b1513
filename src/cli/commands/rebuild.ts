import type { Argv, CommandModule } from 'yargs';
import { PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface RebuildArguments {
  pipeline?: string;
  lake?: string;
  acceptLoss?: boolean;
}

export const rebuildCommand: CommandModule<object, RebuildArguments> = {
  command: 'rebuild [pipeline]',
  describe: 'Rebuild every table from the kept raw bytes, without a call',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', { type: 'string', requiresArg: true, describe: 'Folder of the lake; needs no pipeline file' })
      .option('accept-loss', {
        type: 'boolean',
        describe: 'Continue even if rows are lost that only damaged tables had; without it, nothing is done',
      })
      .example('$0 rebuild', 'After an update, or with another lake.tables.items.partitionBy')
      .example('$0 rebuild --lake /data/lake', 'The same without a key: repair damaged files')
      .epilogue(
        'Raw bytes are kept for landing.keep. The tables stay as they are until all new ones are made; then they are replaced one by one. Logs, lake.json and format.json may be damaged or of another format: the raw bytes are enough.',
      ) as Argv<RebuildArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-rebuild.js')).runRebuild(argv, context)),
};
