import { listAnalyses } from '../../src/analyze/analysis.js';
import { type CommandSpec, describeUsage, listChoices, readNotes, toFlagName } from '../../src/cli/command.js';
import { SPECS } from '../../src/cli/commands.js';
import type { Parameter } from '../../src/cli/parameter.js';
import { GLOBAL_OPTIONS } from '../../src/cli/shared-options.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

/** An option that at least this many commands share is described only once. */
const MANY = 2;
const MOST_LINES = 4;

/**
 * Renders `docs/reference/cli.md` with lists instead of the text of `--help`, because lists wrap at the page's width.
 */
export function renderCli(): string {
  const specs = SPECS;
  const shared = findShared(
    specs.flatMap(({ arguments: positionals = {}, options = {} }) => [
      ...describeAll(positionals, ''),
      ...describeAll(options, '--'),
    ]),
  );
  const paragraphs = findShared(specs.flatMap((spec) => [...new Set(listParagraphs(spec))]));
  const commands = specs.map((spec) => renderCommand(spec, shared, paragraphs));
  return `# Command line

\`pricelake COMMAND --help\` prints the reference of one command, with more examples.

Results go to stdout. Logs and progress go to stderr, as lines of JSON unless stderr is a terminal. With \`--json\`, the last line of stdout is one JSON object: \`{"ok": true, …}\`, or \`{"ok": false, "error": {"code", "message", "hint", …}}\`. The folder \`schemas/output\` has a JSON Schema for each command. See also the [exit codes](errors.md) and the [environment variables](environment.md).

## Options of every command

${describeAll(GLOBAL_OPTIONS, '--').join('\n')}
- \`--help\`, \`-h\`: Show help
- \`--version\`: Show version number

## Options of several commands

${[...shared].join('\n')}

## Notes on several commands

${[...paragraphs].join('\n\n')}

${commands.join('\n')}`;
}

/**
 * Finds options that at least MANY commands share. If an option has several meanings, only the most frequent is shared.
 */
function findShared(lines: string[]): Set<string> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const best = new Map<string, string>();
  for (const [line, count] of counts) {
    const name = nameOf(line);
    if (count >= MANY && count > (counts.get(best.get(name) ?? '') ?? 0)) best.set(name, line);
  }
  return new Set(best.values());
}

/** Returns an option's name from its line in a list, such as `--lake`; for a paragraph, the paragraph itself. */
const nameOf = (line: string): string => /^- `([\w-]+)/u.exec(line)?.[1] ?? line;

function renderCommand(spec: CommandSpec, shared: Set<string>, paragraphs: Set<string>): string {
  const { arguments: positionals = {}, options = {}, examples } = spec;
  const lines = [...describeAll(positionals, ''), ...describeAll(options, '--')];
  const others = lines
    .filter((line) => shared.has(line) && nameOf(line).startsWith('--'))
    .map((line) => `\`${nameOf(line)}\``);
  const own = lines.filter((line) => !shared.has(line));
  const parts = [
    `## pricelake ${spec.name}`,
    `${spec.describe}.`,
    describeUsage(spec) === spec.name ? '' : `Arguments: \`${describeUsage(spec).slice(spec.name.length + 1)}\``,
    others.length === 0 ? '' : `Accepts ${others.join(', ')}.`,
    own.join('\n'),
    examples
      .slice(0, 1)
      .map(([line]) => `Example: \`${line}\``)
      .join('\n'),
    ...listParagraphs(spec).filter((paragraph) => !paragraphs.has(paragraph)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function describeAll(parameters: Readonly<Record<string, Parameter>>, dashes: string): string[] {
  return Object.entries(parameters).map(([key, one]) => {
    const { describe, alias, placeholder, default: byDefault, isRequired, list } = one;
    const choices = describeChoices(one);
    const name =
      dashes === '' ? key : `${dashes}${toFlagName(key)}${placeholder === undefined ? '' : ` ${placeholder}`}`;
    const facts = [
      ...(isRequired === true ? ['required'] : []),
      ...(choices === undefined ? [] : [choices]),
      ...(byDefault === undefined || byDefault === false ? [] : [`default ${byDefault}`]),
      ...(list === 'repeated' && !describe.includes('repeated') ? ['can be repeated'] : []),
    ];
    const more = facts.length === 0 ? '' : ` (${facts.join('; ')})`;
    return `- \`${name}\`${alias === undefined ? '' : `, \`-${alias}\``}: ${describe}${more}`;
  });
}

/** Describes the allowed values, except names that another page already lists. */
function describeChoices(parameter: Parameter): string | undefined {
  const choices = listChoices(parameter);
  if (choices === TABLE_NAMES) return 'one of the [tables](tables.md)';
  if (choices?.join() === listAnalyses().join()) return 'one of the [analyses](analyses.md)';
  return choices === undefined ? undefined : `one of ${choices.join(', ')}`;
}

/** Splits the notes into paragraphs. Indented lines keep their form; a long list of them is left to `--help`. */
function listParagraphs(spec: CommandSpec): string[] {
  const blocks = readNotes(spec).match(/^[^ \n].*$|(?:^ .*\n?)+/gmu) ?? [];
  return blocks.map((block) => {
    if (!block.startsWith(' ')) return block;
    if (block.split('\n').length > MOST_LINES) return `\`pricelake ${spec.name} --help\` has this list.`;
    return `\`\`\`text\n${outdent(block.trimEnd())}\n\`\`\``;
  });
}

function outdent(block: string): string {
  const least = Math.min(...block.split('\n').map((line) => line.length - line.trimStart().length));
  return block.replaceAll(new RegExp(`^ {${least}}`, 'gmu'), '');
}
