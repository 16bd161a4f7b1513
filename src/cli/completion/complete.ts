import type { CommandSpec, OptionSpec } from '../describe-commands.js';

/** A value that can end a command line. */
export interface Completion {
  value: string;
  meaning?: string | undefined;
}

/** A value that the shell completes itself: paths. */
export const FILES: Completion = { value: ':files' };

/** Looks values up that no declaration lists: the checks, or the shops of a lake. */
export type LookUp = (option: OptionSpec, words: readonly string[]) => Promise<Completion[]>;

/**
 * Completes the last of the words behind `pricelake`: commands, options, and the values of both.
 */
export async function complete(
  words: readonly string[],
  commands: readonly CommandSpec[],
  globals: readonly OptionSpec[],
  lookUp: LookUp,
): Promise<Completion[]> {
  const prefix = unquote(words.at(-1) ?? '');
  const before = words.slice(0, -1);
  const { command, rest } = findCommand(before, commands);
  const options = [...(command?.options ?? []), ...globals].filter(({ hidden }) => hidden !== true);
  const open = findOpenOption(before, options);
  const values = async () => {
    if (open !== undefined) return listValues(open, words, lookUp);
    if (prefix.startsWith('-')) return listOptions(options, before);
    const subcommands = rest.length === 0 ? (command?.commands ?? commands) : [];
    const positional = command?.positionals[countArguments(rest, options)];
    const given = positional === undefined ? [] : await listValues(positional, words, lookUp);
    return [...subcommands.map(describe), ...given];
  };
  return (await values()).filter(({ value }) => value === FILES.value || value.startsWith(prefix));
}

/** A word as the shell would read it; shells hand words over as they are typed, perhaps with an open quote. */
function unquote(word: string): string {
  const [first = ''] = word;
  return first === '"' || first === "'" ? word.slice(1) : word.replace(/\\(.)/gu, '$1');
}

function describe({ name, describe: meaning }: CommandSpec): Completion {
  return { value: name.split(' ').at(-1) ?? name, meaning };
}

/** The command that the words name, and the words behind it. */
function findCommand(words: readonly string[], commands: readonly CommandSpec[]) {
  let command: CommandSpec | undefined;
  let rest = [...words];
  for (let known: readonly CommandSpec[] = commands; ; known = command.commands) {
    const at = rest.findIndex((word) => known.some((one) => describe(one).value === word));
    if (at < 0) return { command, rest };
    command = known.find((one) => describe(one).value === rest[at]) as CommandSpec;
    rest = rest.slice(at + 1);
  }
}

/** The option whose value comes next. */
function findOpenOption(words: readonly string[], options: readonly OptionSpec[]): OptionSpec | undefined {
  const last = words.at(-1);
  return options.find(({ name, takesValue }) => takesValue && last === `--${name}`);
}

function listOptions(options: readonly OptionSpec[], words: readonly string[]): Completion[] {
  return options
    .filter(({ name, type }) => type === 'array' || !words.includes(`--${name}`))
    .map(({ name, describe }) => ({ value: `--${name}`, meaning: describe }));
}

/** Arguments among words; options and their values are none. */
function countArguments(words: readonly string[], options: readonly OptionSpec[]): number {
  return words.filter((word, at) => !word.startsWith('-') && findOpenOption(words.slice(0, at), options) === undefined)
    .length;
}

async function listValues(option: OptionSpec, words: readonly string[], lookUp: LookUp): Promise<Completion[]> {
  const { choices } = option;
  if (choices !== undefined) return [...choices].map((choice) => ({ value: String(choice) }));
  return lookUp(option, words);
}
