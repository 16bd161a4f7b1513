import { type CommandSpec, describeUsage, listChoices, readNotes, toFlagName } from './command.js';
import { SPECS } from './commands.js';
import type { Parameter } from './parameter.js';
import { GLOBAL_OPTIONS } from './shared-options.js';

/**
 * Escapes text for a man page. roff would treat a line that starts with a dot or an apostrophe as a command, and a
 * backslash as the start of an escape sequence.
 */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gmu, '\\&$1');
}

export function renderManPage(version: string, epilogue: string): string {
  return `.TH PRICELAKE 1 "" "pricelake ${toRoff(version)}" "User Commands"
.SH NAME
pricelake \\- an exact copy of the Price and Product Data API in Parquet
.SH SYNOPSIS
.B pricelake
.I command
.RI [ arguments ]
.RI [ options ]
.SH OPTIONS
${renderOptions(GLOBAL_OPTIONS)}.SH COMMANDS
${SPECS.map(renderCommand).join('')}.SH EXIT STATUS
.nf
${toRoff(epilogue)}
.fi
`;
}

function renderCommand(spec: CommandSpec): string {
  const { describe, arguments: positionals = {}, options = {}, examples } = spec;
  const terms = Object.entries(positionals).map(([key, one]) => renderTerm(`.I ${key}`, one));
  const notes = readNotes(spec);
  const listed = examples.map(([line, meaning]) => `.TP\n${toRoff(line)}\n${toRoff(meaning)}\n`);
  return `.SS pricelake ${toRoff(describeUsage(spec))}
${toRoff(describe)}.
${terms.join('')}${renderOptions(options)}${notes === '' ? '' : `.PP\n.nf\n${toRoff(notes)}\n.fi\n`}.PP
Examples:
${listed.join('')}`;
}

function renderOptions(options: Readonly<Record<string, Parameter>>): string {
  return Object.entries(options)
    .map(([key, one]) => {
      const letter = one.alias === undefined ? '' : `\\-${one.alias}, `;
      const placeholder = one.placeholder === undefined ? '' : ` ${one.placeholder}`;
      return renderTerm(`.B ${letter}\\-\\-${toRoff(toFlagName(key))}${placeholder}`, one);
    })
    .join('');
}

function renderTerm(term: string, parameter: Parameter): string {
  const choices = listChoices(parameter);
  const facts = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(parameter.default === undefined ? [] : [`default ${parameter.default}`]),
  ];
  const suffix = facts.length === 0 ? '' : ` (${facts.join('; ')})`;
  return `.TP\n${term}\n${toRoff(`${parameter.describe}${suffix}`)}\n`;
}
