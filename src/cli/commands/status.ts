import type { Argv, CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

interface StatusArguments {
  pipeline?: string;
  lake?: string;
  online: boolean;
}

export const statusCommand: CommandModule<object, StatusArguments> = {
  command: 'status [pipeline]',
  describe: 'Show what the lake holds, what waits, how its last runs went and what is left of the month',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', { type: 'string', describe: 'Pipeline file (YAML): asks the service, two calls' })
      .option('lake', {
        type: 'string',
        requiresArg: true,
        describe: 'Folder of the lake; default ./lake, or lake.path',
      })
      .option('online', {
        type: 'boolean',
        default: false,
        describe: 'Ask the service at PRICELAKE_BASE_URL how far the lake is behind; two calls',
      })
      .example('$0 status --lake ./lake', 'Without a call: run, cursor, held batch, lock, budget as last seen')
      .example(
        '$0 status prices.yaml --json',
        'With the lag behind the feed, as one line of JSON',
      ) as Argv<StatusArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-status.js')).showStatus(argv, context)),
};
