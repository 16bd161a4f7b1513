import type { CommandModule } from 'yargs';
import type { Severity } from '../../tables/table.js';
import { LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface CheckArguments {
  pipeline: string | undefined;
  lake: string | undefined;
  checks: string | undefined;
  'fail-on': Severity;
  select: string[] | undefined;
}

export const checkCommand: CommandModule<object, CheckArguments> = {
  command: 'check [pipeline]',
  describe: 'Check the published tables',
  builder: (yargs) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', LAKE_OPTION)
      .option('checks', {
        type: 'string',
        requiresArg: true,
        describe:
          'Folder with your own checks (*.sql), beside the shipped ones; default checksFolder of the pipeline file',
      })
      .option('fail-on', {
        choices: ['gate', 'error', 'warn'] as const,
        default: 'error' as Severity,
        describe: 'Exit with 3 if a check of this severity or a higher one finds something',
      })
      .option('select', { type: 'string', array: true, describe: 'Only these checks' })
      .example('$0 check', 'All checks; exit 3 if a gate or an error fails')
      .example('$0 check other.yaml', 'With the severities, thresholds and checks of another pipeline file')
      .example('$0 check --fail-on warn --select gtin_check_digit', 'One check, strictly')
      .epilogue(
        `A check is a file in pipelines/checks, or in a folder of your own. The rows that its SELECT returns are violations. Its header says how severe they are and what to do next:
    -- name: no_free_kettles
    -- severity: warn                (gate, error or warn; a gate holds the batch)
    -- description: No listed kettle costs less than a limit.
    -- next: Look at the item's page.
    -- parameter: limit DOUBLE default 1: lowest price
The SQL reads the parameter as $limit, and checks: in the pipeline file sets it.`,
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-check.js')).runCheckCommand(argv, context)),
};
