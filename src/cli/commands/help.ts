import type { Argv, CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

/** Lists them, as no topic does. */
export const ALL_TOPICS = 'topics';

export const helpCommand: CommandModule<object, { topic: string | undefined }> = {
  command: 'help [topic]',
  describe: 'Show the page of a topic, or list the topics',
  builder: (yargs: Argv) =>
    yargs
      .positional('topic', { type: 'string', describe: 'A page of the documentation, such as budget, or a command' })
      .example('$0 help', 'List the topics')
      .example('$0 help budget', 'How to stay within a budget')
      .example('$0 help sync', 'What `sync --help` prints') as Argv<{ topic: string | undefined }>,
  handler: (argv) =>
    runCommand(argv, async (context) =>
      (await import('../actions/show-help.js')).showHelp(argv.topic === ALL_TOPICS ? undefined : argv.topic, context),
    ),
};
