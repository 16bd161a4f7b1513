import type { CommandContext, CommandReport } from '../command.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * The hidden command that the completion scripts call. It prints lines of `value<TAB>meaning`, or `:files` if the shell
 * should complete file paths.
 */
export const COMPLETE_WORD = '__complete';

/** The completion script of each shell. The scripts call the installed program, so they never become outdated. */
export const SCRIPTS: Record<Shell, string> = {
  bash: `_pricelake() {
  local value meaning
  COMPREPLY=()
  while IFS=$'\\t' read -r value meaning; do
    if [[ $value == :files ]]; then compopt -o default; COMPREPLY=(); return; fi
    if [[ \${COMP_WORDS[COMP_CWORD]} != [\\"\\']* ]]; then printf -v value '%q' "$value"; fi
    if [[ $value == *= ]]; then compopt -o nospace; fi
    COMPREPLY+=("$value")
  done < <(pricelake ${COMPLETE_WORD} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pricelake pricelake
`,
  zsh: `#compdef pricelake
_pricelake() {
  local value meaning
  local -a values
  while IFS=$'\\t' read -r value meaning; do
    if [[ $value == :files ]]; then _files; return; fi
    values+=("\${value//:/\\\\:}\${meaning:+:$meaning}")
  done < <(pricelake ${COMPLETE_WORD} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe pricelake values
}
compdef _pricelake pricelake
`,
  fish: `function __pricelake_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines (pricelake ${COMPLETE_WORD} $words[2..-1] "$current" 2>/dev/null)
  if contains -- :files $lines
    __fish_complete_path "$current"
  else
    printf '%s\\n' $lines
  end
end
complete -c pricelake -f -a '(__pricelake_complete)'
`,
};

export async function printScript({ shell }: { shell: Shell }, context: CommandContext): Promise<CommandReport> {
  if (!context.json) await context.output.write(SCRIPTS[shell]);
  return { shell, script: SCRIPTS[shell] };
}
