import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import { describeUsage, toFlagName } from './command.js';
import { findCommand, nameOf, SPECS } from './commands.js';
import { refuseChoice } from './parameter.js';
import { GLOBAL_OPTIONS } from './shared-options.js';

const UNKNOWN = /^Unknown (argument|command)s?: (.+)$/u;
const CHOICE = /^ *Argument: (\S+), Given: "(.*)", Choices: (.+)$/mu;
const ARGUMENT_MISSING = /^Not enough non-option arguments/u;
const VALUE_MISSING = /^Not enough arguments following: (\S+)/u;
const OPTION_MISSING = /^Missing required arguments?: (.+)/u;

/** Converts a yargs error to an error that names the unknown command or option and suggests the most similar one. */
export function usageError(message: string, args: readonly string[]): PricelakeError {
  const [kind, name = ''] = UNKNOWN.exec(message)?.slice(1) ?? [];
  const words = kind === 'command' ? args.slice(0, args.indexOf(name)) : args;
  const { command } = findCommand(words);
  const { known, shown } = listFlags(words);
  // yargs takes the word after an unknown option as the option's value, and may report an error that follows from that.
  // This reports the unknown option instead.
  const flag = findUnknownFlag(words, known);
  if (flag !== undefined) return explainFlag(flag.name, shown, findCommand(words.slice(0, flag.at)).command?.spec.name);
  const hint = `Run \`pricelake ${command === undefined ? '--help' : `${command.spec.name} --help`}\`.`;
  if (ARGUMENT_MISSING.test(message) && command !== undefined) {
    return new PricelakeError('usage', `missing argument: pricelake ${describeUsage(command.spec)}`, { hint });
  }
  const choice = CHOICE.exec(message);
  if (choice !== null) return explainChoice(choice, shown);
  if (kind === undefined) return new PricelakeError('usage', explain(message), { hint });
  if (kind === 'argument' || command !== undefined) {
    return new PricelakeError('usage', `unknown argument ${name}`, { hint });
  }
  const near = suggestName(name, SPECS.map(nameOf));
  const meant = SPECS.find((spec) => nameOf(spec) === near);
  return new PricelakeError('usage', `unknown command ${name}`, {
    hint: meant === undefined ? hint : `Did you mean \`pricelake ${meant.name}\`?`,
  });
}

function explainChoice([, name = '', given = '', choices = '']: RegExpExecArray, flags: string[]): PricelakeError {
  const known = [...choices.matchAll(/"([^"]*)"/gu)].map(([, choice]) => choice ?? '');
  return refuseChoice(flags.includes(name) ? spell(name) : `<${name}>`, given, known);
}

/** Describes an unknown option. The message omits the option's value, which may be an API key. */
function explainFlag(flag: string, flags: string[], command: string | undefined): PricelakeError {
  const near = suggestFlag(flag, flags);
  const hint =
    near === undefined ? `Its options are ${flags.map(spell).join(', ')}.` : `Did you mean \`${spell(near)}\`?`;
  const of = command === undefined ? '' : ` of \`pricelake ${command}\``;
  return new PricelakeError('usage', `unknown option ${spell(flag)}${of}`, { hint });
}

/**
 * Suggests the most similar option. For a single letter, suggests the option that starts with it, if there is only one.
 */
function suggestFlag(flag: string, flags: string[]): string | undefined {
  if (flag.startsWith('no-')) return suggestName(flag, [...flags, ...flags.map((known) => `no-${known}`)]);
  if (flag.length > 1) return suggestName(flag, flags);
  const begun = flags.filter((known) => known.startsWith(flag));
  return begun.length === 1 ? begun[0] : undefined;
}

/** Finds the first option that the command doesn't accept. Words after `--` are not options. */
function findUnknownFlag(args: readonly string[], flags: string[]): { name: string; at: number } | undefined {
  const end = args.indexOf('--');
  for (const [at, arg] of args.slice(0, end === -1 ? args.length : end).entries()) {
    const name = /^--?([^-\s\d=][^\s=]*)/u.exec(arg)?.[1];
    if (name === undefined) continue;
    if (!arg.startsWith('--')) {
      if (!flags.includes(name.charAt(0))) return { name: name.charAt(0), at };
      // yargs also accepts `--minShops` for `--min-shops`, and `--no-` before every option.
    } else if (![name, toFlagName(name), name.replace(/^no-/u, '')].some((one) => flags.includes(one))) {
      return { name, at };
    }
  }
  return undefined;
}

const spell = (flag: string) => (flag.length === 1 ? `-${flag}` : `--${flag}`);

/** Rewrites a yargs message so that options appear as the user types them. */
function explain(message: string): string {
  const [, open] = VALUE_MISSING.exec(message) ?? [];
  if (open !== undefined) return `${spell(open)} needs a value`;
  const [, required] = OPTION_MISSING.exec(message) ?? [];
  if (required !== undefined) return `${required.split(', ').map(spell).join(' and ')} is missing`;
  const line = message.trim();
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/**
 * Lists the options of the command in `words`. `known` also includes positional arguments. yargs accepts these as
 * options, but messages shouldn't suggest them.
 */
function listFlags(words: readonly string[]): { known: string[]; shown: string[] } {
  const { arguments: positionals = {}, options = {} } = findCommand(words).command?.spec ?? {};
  const aliases = Object.values(GLOBAL_OPTIONS).flatMap(({ alias }) => alias ?? []);
  const shown = [...Object.keys(GLOBAL_OPTIONS), 'version', 'help', ...Object.keys(options).map(toFlagName)];
  return { known: [...shown, ...Object.keys(positionals), ...aliases, 'h'], shown };
}
