import type { Argv, CommandModule } from 'yargs';
import { MAX_OVERAGE, MAX_ROWS } from '../cap-options.js';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface PlanArguments {
  pipeline?: string;
  lake?: string;
  reconcile: boolean;
  'max-rows'?: string;
  'max-overage'?: string;
}

export const planCommand: CommandModule<object, PlanArguments> = {
  command: 'plan [pipeline]',
  describe: 'Show what the next sync would do and cost; change nothing',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .option('reconcile', {
        type: 'boolean',
        default: false,
        describe: 'Plan sync --reconcile, a complete comparison',
      })
      .option('max-rows', MAX_ROWS)
      .option('max-overage', MAX_OVERAGE)
      .example('$0 plan', 'Mode, calls, export rows, overage, and what is left of the month')
      .example('$0 plan --max-overage 2 --json', 'If two blocks of overage are allowed; as one JSON object')
      .epilogue(
        `Exits with 5 if sync would refuse to start, or stop before its end. plan makes up to seven calls itself: for the plan, the newest change, a page of changes, and counts of items. Its result names them, and they count like all others.`,
      ) as Argv<PlanArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-plan.js')).showPlan(argv, context)),
};
