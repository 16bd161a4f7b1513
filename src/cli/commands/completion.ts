import { declareCommand } from '../command.js';
import { SHELLS } from '../completion/scripts.js';
import { choice } from '../parameter.js';

export const completion = declareCommand({
  name: 'completion',
  describe: 'Print a script for your shell that completes commands, options and values',
  arguments: { shell: choice(SHELLS, 'Your shell', { isRequired: true }) },
  examples: [
    ['source <(pricelake completion bash)', 'In ~/.bashrc'],
    ['source <(pricelake completion zsh)', 'In ~/.zshrc, after compinit'],
    ['pricelake completion fish > ~/.config/fish/completions/pricelake.fish', 'Once'],
  ],
  notes:
    'Completes paths, the names of tables, analyses and checks, and the currencies, categories, brands and shops (--own-site) of your lake.',
});
