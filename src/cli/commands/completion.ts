import type { Argv, CommandModule } from 'yargs';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.js';
import { runCommand } from '../run-command.js';

export const completionCommand: CommandModule<object, { shell: Shell }> = {
  command: 'completion <shell>',
  describe: 'Print a script that completes commands, options and their values in a shell',
  builder: (yargs: Argv) =>
    yargs
      .positional('shell', { choices: SHELLS, demandOption: true, describe: 'Shell to complete in' })
      .example('source <(pricelake completion bash)', 'In ~/.bashrc')
      .example('source <(pricelake completion zsh)', 'In ~/.zshrc, behind compinit')
      .example('pricelake completion fish > ~/.config/fish/completions/pricelake.fish', 'Once')
      .epilogue(
        'Names of tables, analyses and checks are completed, and shops, currencies, categories and brands of the lake.',
      ) as Argv<{ shell: Shell }>,
  handler: ({ shell, ...argv }) =>
    runCommand(argv, async ({ output, json }) => {
      if (!json) await output.write(SCRIPTS[shell]);
      return { shell, script: SCRIPTS[shell] };
    }),
};
