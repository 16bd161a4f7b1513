import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface VerifyArguments {
  lake: string;
  sample: number | undefined;
}

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify',
  describe: 'Prove the lake whole: logs, bytes, rows, statistics, cursors, row equations',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('sample', {
        type: 'number',
        requiresArg: true,
        describe: 'Read the values of at most so many row groups, others in every run; default all',
      })
      .example('$0 verify', 'Read every file and every value; exit 3 when something is wrong')
      .example('$0 verify --sample 50 --json', 'Every checksum and footer, but the values of 50 row groups')
      .epilogue('Makes no call, takes no lock and changes nothing. Repair with rebuild, or with sync --reconcile.'),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-verify.js')).runVerify(argv, context)),
};
