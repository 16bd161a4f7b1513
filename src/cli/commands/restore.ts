import type { CommandModule } from 'yargs';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

export const restoreCommand: CommandModule<object, { pipeline: string | undefined; lake: string | undefined }> = {
  command: 'restore [pipeline]',
  describe: 'Fetch the whole lake from its remote (lake.remote) into its folder',
  builder: (yargs) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .example('$0 restore /etc/prices.yaml', 'Into lake.path, which may be empty')
      .epilogue(
        'On an empty disk, sync fetches only the files that it needs. restore fetches the others, and later runs keep the folder whole. It holds the remote as a run does, and makes no call to the service. If it stops, run it again: files that are there already are not fetched twice.',
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-restore.js')).runRestore(argv, context)),
};
