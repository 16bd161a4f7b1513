import type { CommandModule } from 'yargs';
import { LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface VerifyArguments {
  pipeline: string | undefined;
  lake: string | undefined;
  sample: number | undefined;
  items: number | undefined;
}

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify [pipeline]',
  describe:
    'Prove that the lake is whole: logs, bytes, rows, statistics, cursors, row equations; and that it matches the service',
  builder: (yargs) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', LAKE_OPTION)
      .option('items', {
        type: 'number',
        requiresArg: true,
        describe: 'Compare this many items with the service, one call each; each run draws others',
      })
      .option('sample', {
        type: 'number',
        requiresArg: true,
        describe: 'Read the values of only this many row groups, others after each sync; default all',
      })
      .example('$0 verify', 'Read every file and every value; exit 3 if something is wrong')
      .example('$0 verify --sample 50 --json', 'Every checksum and footer, but the values of only 50 row groups')
      .example('$0 verify --items 500', 'Compare 500 items value by value with the service')
      .epilogue(
        'Makes no call without --items, takes no lock and changes nothing. Repair with rebuild, or with sync --reconcile.',
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-verify.js')).runVerify(argv, context)),
};
