import type { Argv, CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

interface InitArguments {
  file: string;
  lake?: string;
}

export const initCommand: CommandModule<object, InitArguments> = {
  command: 'init [file]',
  describe: 'Write a pipeline file with every option explained',
  builder: (yargs: Argv) =>
    yargs
      .positional('file', { type: 'string', default: 'prices.yaml', describe: 'Where to write it' })
      .option('lake', { type: 'string', requiresArg: true, describe: 'Folder of the lake, as lake.path' })
      .example('$0 init', 'prices.yaml in this folder; nothing is overwritten')
      .example('$0 init /etc/pricelake/prices.yaml --lake /data/lake', 'For a scheduler') as Argv<InitArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/write-pipeline.js')).writePipeline(argv, context)),
};
