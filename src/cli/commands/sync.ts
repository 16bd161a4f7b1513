import type { CommandModule } from 'yargs';
import { PricelakeError } from '../../errors.js';
import { runCommand } from '../run-command.js';

export const syncCommand: CommandModule = {
  command: 'sync',
  describe: false,
  handler: (argv) =>
    runCommand(argv, async () => {
      throw new PricelakeError('usage', 'sync is not part of this build');
    }),
};
