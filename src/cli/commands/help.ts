import { declareCommand } from '../command.js';
import { text } from '../parameter.js';

/** The name of no topic: it stands for the list of them. */
export const ALL_TOPICS = 'topics';

export const help = declareCommand({
  name: 'help',
  describe: 'Show the page of a topic, or list the topics',
  arguments: { topic: text('A page of the documentation, such as budget, or a command') },
  examples: [
    ['pricelake help', 'List the topics'],
    ['pricelake help budget', 'How to stay within a budget'],
    ['pricelake help sync', 'What `sync --help` prints'],
  ],
});
