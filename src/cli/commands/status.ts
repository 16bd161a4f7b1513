import type { Argv, CommandModule } from 'yargs';
import { LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { REMOTE_OPTIONS, type RemoteArguments } from '../remote-option.js';
import { runCommand } from '../run-command.js';

interface StatusArguments extends RemoteArguments {
  pipeline?: string;
  lake?: string;
  online: boolean;
}

export const statusCommand: CommandModule<object, StatusArguments> = {
  command: 'status [pipeline]',
  describe: 'Show what the lake holds, what waits, how the last runs went and what is left of the month',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', LAKE_OPTION)
      .options(REMOTE_OPTIONS)
      .option('online', {
        type: 'boolean',
        default: false,
        describe: 'Ask the service how far the lake is behind (two calls); the default if you name a pipeline file',
      })
      .example('$0 status --lake ./lake', 'Without a call: run, cursor, held batch, lock, last known budget')
      .example(
        '$0 status prices.yaml --json',
        'With the lag behind the feed, as one line of JSON',
      ) as Argv<StatusArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-status.js')).showStatus(argv, context)),
};
