import { declareCommand } from '../command.js';
import { SHELLS } from '../completion/scripts.js';
import { choice, text } from '../parameter.js';

export const completion = declareCommand({
  name: 'completion',
  describe: 'Print a script that makes your shell complete commands, options and values',
  arguments: { shell: choice(SHELLS, 'Your shell', { isRequired: true }) },
  examples: [
    ['source <(pricelake completion bash)', 'Add this line to ~/.bashrc'],
    ['source <(pricelake completion zsh)', 'Add this line to ~/.zshrc, after compinit'],
    ['pricelake completion fish > ~/.config/fish/completions/pricelake.fish', 'Run this once'],
  ],
  notes:
    'The script completes paths, names of tables, analyses and checks, and the currencies, categories, brands and shops (--own-site) in your lake.',
});

/** The topic of the `help` command that lists all topics. */
export const ALL_TOPICS = 'topics';

export const help = declareCommand({
  name: 'help',
  describe: 'Show a documentation page, or list the topics',
  arguments: { topic: text('A documentation page, such as cost, or a command') },
  examples: [
    ['pricelake help', 'List the topics'],
    ['pricelake help cost', 'What a run costs, and how to cap it'],
    ['pricelake help sync', 'The same as `pricelake sync --help`'],
  ],
});
