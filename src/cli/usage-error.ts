import type { Argv } from 'yargs';
import { PricelakeError } from '../errors/errors.js';
import { suggestName } from '../errors/suggest-name.js';

const UNKNOWN = /^Unknown (argument|command)s?: (.+)$/u;
const CHOICE = /^ *Argument: (\S+), Given: "(.*)", Choices: (.+)$/mu;
const MISSING = /^Not enough non-option arguments/u;
const VALUE_MISSING = /^Not enough arguments following: (\S+)/u;
const OPTION_MISSING = /^Missing required arguments?: (.+)/u;

/** What was typed, and what is known. */
export interface CommandLine {
  args: readonly string[];
  /** With their arguments: `sync <pipeline>`. */
  commands: readonly string[];
  /** The parser when it fails: with the options of the command that it was parsing. */
  yargs: Argv;
}

/** A mistake on the command line as an error that names the unknown command or option, and the nearest known one. */
export function usageError(message: string, { args, commands, yargs }: CommandLine): PricelakeError {
  const commandNames = commands.map(nameOf);
  const [kind, name = ''] = UNKNOWN.exec(message)?.slice(1) ?? [];
  const unknownAt = kind === 'command' ? args.indexOf(name) : args.length;
  const findCommand = (before: number) => args.slice(0, before).find((arg) => commandNames.includes(arg));
  const command = findCommand(unknownAt);
  const { known, shown } = listFlags(yargs);
  // An unknown option takes the next word as its value; what yargs then misses is a consequence.
  const flag = findUnknownFlag(args.slice(0, unknownAt), known);
  if (flag !== undefined) return explainFlag(flag.name, shown, findCommand(flag.at));
  const hint = `Run \`pricelake ${command ?? '<command>'} --help\`.`;
  if (MISSING.test(message)) {
    const usage = commands.find((one) => nameOf(one) === command) ?? command;
    return new PricelakeError('usage', `an argument is missing: pricelake ${usage}`, { hint });
  }
  const choice = CHOICE.exec(message);
  if (choice !== null) return explainChoice(choice, yargs);
  if (kind === undefined) return new PricelakeError('usage', explain(message), { hint });
  if (kind === 'argument' || command !== undefined) {
    return new PricelakeError('usage', `unknown argument ${name}`, { hint });
  }
  const near = suggestName(name, commandNames);
  return new PricelakeError('usage', `unknown command ${name}`, {
    hint: near === undefined ? hint : `Did you mean \`pricelake ${near}\`?`,
  });
}

/** A value of an option or argument that is not one of its choices, and the nearest of them. */
function explainChoice([, name = '', given = '', choices = '']: RegExpExecArray, yargs: Argv): PricelakeError {
  const known = [...choices.matchAll(/"([^"]*)"/gu)].map(([, choice]) => choice ?? '');
  // Every letter is near every other.
  const near = given.length > 1 ? suggestName(given, known) : undefined;
  const what = listFlags(yargs).shown.includes(name) ? spell(name) : `<${name}>`;
  return new PricelakeError('usage', `${what} can't be ${given}`, {
    hint: near === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean \`${near}\`?`,
  });
}

function nameOf(command: string): string {
  return command.split(' ', 1)[0] ?? '';
}

/** The value is not repeated: it may be a key. */
function explainFlag(flag: string, flags: string[], command: string | undefined): PricelakeError {
  const near = suggestFlag(flag, flags);
  const hint =
    near === undefined ? `Its options are ${flags.map(spell).join(', ')}.` : `Did you mean \`${spell(near)}\`?`;
  const of = command === undefined ? '' : ` of \`pricelake ${command}\``;
  return new PricelakeError('usage', `unknown option ${spell(flag)}${of}`, { hint });
}

/** A letter is taken for the only option that begins with it. */
function suggestFlag(flag: string, flags: string[]): string | undefined {
  if (flag.startsWith('no-')) return suggestName(flag, [...flags, ...flags.map((known) => `no-${known}`)]);
  if (flag.length > 1) return suggestName(flag, flags);
  const begun = flags.filter((known) => known.startsWith(flag));
  return begun.length === 1 ? begun[0] : undefined;
}

/** The first option that the command does not have; nothing after `--` is an option. */
function findUnknownFlag(args: readonly string[], flags: string[]): { name: string; at: number } | undefined {
  const end = args.indexOf('--');
  for (const [at, arg] of args.slice(0, end === -1 ? args.length : end).entries()) {
    const name = /^--?([^-\s\d=][^\s=]*)/u.exec(arg)?.[1];
    if (name === undefined) continue;
    if (!arg.startsWith('--')) {
      if (!flags.includes(name.charAt(0))) return { name: name.charAt(0), at };
    } else if (!isKnown(name, flags)) return { name, at };
  }
  return undefined;
}

/** yargs also accepts `--minShops` for `--min-shops`, and `--no-` before every option. */
function isKnown(name: string, flags: string[]): boolean {
  const kebab = name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
  return [name, kebab, name.replace(/^no-/u, '')].some((one) => flags.includes(one));
}

function spell(flag: string): string {
  return flag.length === 1 ? `-${flag}` : `--${flag}`;
}

/** What yargs says, on one line and with the option as it is typed. */
function explain(message: string): string {
  const [, open] = VALUE_MISSING.exec(message) ?? [];
  if (open !== undefined) return `${spell(open)} needs a value`;
  const [, required] = OPTION_MISSING.exec(message) ?? [];
  if (required !== undefined) return `${required.split(', ').map(spell).join(' and ')} is missing`;
  const line = message.trim().replace(/\s*\n\s*/gu, ' ');
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** Public in yargs, but missing from its types. */
interface YargsState {
  getOptions(): { key: Record<string, unknown>; alias: Record<string, string[]> };
  getGroups(): Record<string, string[]>;
}

/** Options of the command that was being parsed. yargs accepts its arguments as options as well, but messages don't show them so. */
function listFlags(yargs: Argv): { known: string[]; shown: string[] } {
  const state = yargs as Argv & YargsState;
  const { key, alias } = state.getOptions();
  const positionals = state.getGroups()['Positionals:'] ?? [];
  const aliases = Object.values(alias).flat();
  const shown = Object.keys(key).filter((name) => !positionals.includes(name) && !aliases.includes(name));
  return { known: [...Object.keys(key), ...aliases], shown };
}
