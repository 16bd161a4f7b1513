import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

export const statusCommand: CommandModule = {
  command: 'status',
  describe: 'status',
  handler: (argv) => runCommand(argv, async () => ({})),
};
