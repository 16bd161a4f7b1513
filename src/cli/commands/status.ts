import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface StatusArguments {
  lake: string;
}

export const statusCommand: CommandModule<object, StatusArguments> = {
  command: 'status',
  describe: 'Show what the lake holds and how its last runs went',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .example('$0 status --lake ./lake', 'Run, cursor, tables, last runs and checks')
      .example('$0 status --json', 'The same as one line of JSON'),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-status.js')).showStatus(argv, context)),
};
