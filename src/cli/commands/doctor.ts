import type { Argv, CommandModule } from 'yargs';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface DoctorArguments {
  pipeline?: string;
  lake?: string;
}

export const doctorCommand: CommandModule<object, DoctorArguments> = {
  command: 'doctor [pipeline]',
  describe: 'Check everything that a sync needs, and say how to fix what is wrong',
  builder: (yargs: Argv) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .example('$0 doctor', 'Node, pipeline file, disk, file system, service, key, plan, clock, lake, remote')
      .example('$0 doctor --json', 'The same for a monitoring system')
      .epilogue(
        'Makes one call and changes nothing. Exits with 0 if a sync can run, even with warnings, and with 3 if something failed.',
      ) as Argv<DoctorArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-doctor.js')).runDoctor(argv, context)),
};
