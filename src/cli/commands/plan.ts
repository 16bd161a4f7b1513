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
  describe: 'Say what the next sync would do and take, and write nothing',
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
      .example('$0 plan', 'Mode, calls, export rows, overage, and what the month has left')
      .example('$0 plan --max-overage 2 --json', 'With two blocks of overage agreed; one JSON object')
      .epilogue(
        `Exits with 5 when sync would be refused, or would stop before its end. It makes at most seven calls itself: the plan,
the newest change, a page of changes, and counts of items; they are named in its result, and count like all others.`,
      ) as Argv<PlanArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-plan.js')).showPlan(argv, context)),
};
