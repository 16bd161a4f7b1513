import type { Argv, CommandModule } from 'yargs';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.js';
import { runCommand } from '../run-command.js';

export const completionCommand: CommandModule<object, { shell: Shell }> = {
  command: 'completion <shell>',
  describe: 'Print a script for your shell that completes commands, options and values',
  builder: (yargs: Argv) =>
    yargs
      .positional('shell', { choices: SHELLS, demandOption: true, describe: 'Your shell' })
      .example('source <(pricelake completion bash)', 'In ~/.bashrc')
      .example('source <(pricelake completion zsh)', 'In ~/.zshrc, after compinit')
      .example('pricelake completion fish > ~/.config/fish/completions/pricelake.fish', 'Once')
      .epilogue(
        'Completes paths, the names of tables, analyses and checks, and the currencies, categories, brands and shops (--own-site) of your lake.',
      ) as Argv<{ shell: Shell }>,
  handler: ({ shell, ...argv }) =>
    runCommand(argv, async ({ output, json }) => {
      if (!json) await output.write(SCRIPTS[shell]);
      return { shell, script: SCRIPTS[shell] };
    }),
};
