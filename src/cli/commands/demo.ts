import type { CommandModule } from 'yargs';
import { PricelakeError } from '../../errors.js';
import { runCommand } from '../run-command.js';

export const demoCommand: CommandModule = {
  command: 'demo',
  describe: false,
  handler: (argv) =>
    runCommand(argv, async () => {
      throw new PricelakeError('usage', 'demo is not part of this build');
    }),
};
