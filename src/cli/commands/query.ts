import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

export const queryCommand: CommandModule = {
  command: 'query',
  describe: 'query',
  handler: (argv) => runCommand(argv, async () => ({})),
};
