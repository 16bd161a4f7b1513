import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

export const checkCommand: CommandModule = {
  command: 'check',
  describe: 'check',
  handler: (argv) => runCommand(argv, async () => ({})),
};
