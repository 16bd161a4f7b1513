import type { CommandModule } from 'yargs';
import { PricelakeError } from '../../errors.js';
import { runCommand } from '../run-command.js';

export const sandboxCommand: CommandModule = {
  command: 'sandbox',
  describe: false,
  handler: (argv) =>
    runCommand(argv, async () => {
      throw new PricelakeError('usage', 'sandbox is not part of this build');
    }),
};
