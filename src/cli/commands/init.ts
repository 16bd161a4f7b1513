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
      .example('$0 init', 'Writes prices.yaml, which commands find in this folder; overwrites nothing')
      .example('$0 init /etc/pricelake/prices.yaml --lake /data/lake', 'For a scheduler')
      .epilogue(
        'On a terminal, init asks for the address of the service and the key, checks both with one call, and keeps them in .env. Commands read .env in the current folder; variables that are already set take precedence.',
      ) as Argv<InitArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/write-pipeline.js')).writePipeline(argv, context)),
};
