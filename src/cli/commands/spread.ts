import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

export const spreadCommand: CommandModule = {
  command: 'spread',
  describe: 'spread',
  handler: (argv) => runCommand(argv, async () => ({})),
};
