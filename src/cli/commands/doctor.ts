import type { Argv, CommandModule } from 'yargs';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface DoctorArguments {
  pipeline?: string;
  lake?: string;
}

export const doctorCommand: CommandModule<object, DoctorArguments> = {
  command: 'doctor [pipeline]',
  describe: 'Look whether everything that a sync needs is in order, and say what to do where it is not',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .example('$0 doctor', 'Node, pipeline file, disk, file system, service, key, plan, clock, lake, remote')
      .example('$0 doctor --json', 'The same for a monitor')
      .epilogue(
        'Makes one call, and changes nothing. Exits with 0 when a sync can run, warnings included, and with 3 when something failed.',
      ) as Argv<DoctorArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-doctor.js')).runDoctor(argv, context)),
};
