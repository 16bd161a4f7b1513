import { type CommandSpec, describeOption, type OptionSpec } from './describe-commands.js';
import { GLOBAL_OPTIONS } from './global-options.js';

/** Text of a man page: a dot or a quote at the beginning of a line would be a request, a backslash an escape. */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gmu, '\\&$1');
}

/** The options of every command. */
export function listGlobalOptions(): OptionSpec[] {
  return Object.entries(GLOBAL_OPTIONS).map(([name, options]) => describeOption(name, options));
}

/** `man pricelake`, from the definitions that parse the command line. */
export function renderManPage(commands: readonly CommandSpec[], version: string, epilogue: string): string {
  const all = commands.flatMap((command) => [command, ...command.commands]);
  return `.TH PRICELAKE 1 "" "pricelake ${toRoff(version)}" "User Commands"
.SH NAME
pricelake \\- an exact copy of the Price and Product Data API in Parquet
.SH SYNOPSIS
.B pricelake
.I command
.RI [ arguments ]
.RI [ options ]
.SH OPTIONS
${listGlobalOptions().map(renderOption).join('')}.SH COMMANDS
${all.map(renderCommand).join('')}.SH EXIT STATUS
.nf
${toRoff(epilogue)}
.fi
`;
}

function renderCommand({ usage, describe, positionals, options, examples, epilogue }: CommandSpec): string {
  const shown = options.filter(({ hidden }) => hidden !== true);
  const listed = examples.map(({ command, meaning }) => `.TP\n${toRoff(command)}\n${toRoff(meaning)}\n`);
  const notes = epilogue === '' ? '' : `.PP\n.nf\n${toRoff(epilogue)}\n.fi\n`;
  return `.SS pricelake ${toRoff(usage)}
${toRoff(describe)}.
${positionals.map((one) => renderTerm(`.I ${one.name}`, one)).join('')}${shown.map(renderOption).join('')}${notes}${
  listed.length === 0 ? '' : `.PP\nExamples:\n${listed.join('')}`
}`;
}

function renderOption(option: OptionSpec): string {
  const { name, alias, takesValue } = option;
  const letter = alias === undefined ? '' : `\\-${alias}, `;
  return renderTerm(`.B ${letter}\\-\\-${toRoff(name)}${takesValue ? ' VALUE' : ''}`, option);
}

function renderTerm(term: string, { describe, choices, default: value }: OptionSpec): string {
  const facts = [
    ...(choices === undefined ? [] : [`one of ${[...choices].join(', ')}`]),
    ...(value === undefined || value === false ? [] : [`default ${value}`]),
  ];
  const more = facts.length === 0 ? '' : ` (${facts.join('; ')})`;
  return `.TP\n${term}\n${toRoff(`${describe ?? ''}${more}`)}\n`;
}
