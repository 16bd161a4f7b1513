import type { CommandModule } from 'yargs';
import type { Severity } from '../../model.js';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface CheckArguments {
  lake: string;
  'fail-on': Severity;
  select: string[] | undefined;
}

export const checkCommand: CommandModule<object, CheckArguments> = {
  command: 'check',
  describe: 'Check the published tables',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('fail-on', {
        choices: ['gate', 'error', 'warn'] as const,
        default: 'error' as Severity,
        describe: 'Exit 3 when a check of this severity or a graver one finds something',
      })
      .option('select', { type: 'string', array: true, describe: 'Only these checks' })
      .example('$0 check', 'All checks; exit 3 when a gate or an error fails')
      .example('$0 check --fail-on warn --select gtin_check_digit', 'One check, strictly')
      .epilogue('A check is a file in pipelines/checks: the rows its SELECT returns are violations.'),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-check.js')).runCheckCommand(argv, context)),
};
