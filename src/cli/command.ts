import { PricelakeError } from '../io/errors.js';
import type { Output } from './output/output.js';
import type { Parameter } from './parameter.js';
import type { Style } from './style.js';
import type { CliIo, Prompter } from './terminal-io.js';

export interface CommandContext {
  io: CliIo;
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal;
  /** stdout. */
  output: Output;
  /** With `--json`, stdout gets only the JSON line. */
  json: boolean;
  /** Colours of stdout. */
  style: Style;
  /** Prints what was done; prints nothing with `--json` or `--quiet`. */
  say(text: string): Promise<void>;
  /** Undefined if no person can answer. */
  prompter?: Prompter | undefined;
}

/** The members of the JSON line, beside `ok`. */
export type CommandReport = Record<string, unknown>;

type ParameterMap = Readonly<Record<string, Parameter>>;

/** An earlier form of a command line. It still works, but help doesn't show it. */
export interface Alias {
  /** Options that the earlier form implies unless the user gives them: `--analysis=match_candidates`. */
  implies?: readonly string[];
  /** Options whose names have changed: `{ brand: 'set=brand' }` turns `--brand=x` into `--set=brand=x`. */
  renames?: Readonly<Record<string, string>>;
}

/** The declaration of a command. Keys are in camel case; `maxRows` is typed as `--max-rows`. */
export interface CommandSpec<A extends ParameterMap = ParameterMap, O extends ParameterMap = ParameterMap> {
  /** `sandbox advance` */
  name: string;
  describe: string;
  arguments?: A;
  options?: O;
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Text after the examples. It is a function if it takes time to build. */
  notes?: string | (() => string);
  /** A hint after the message of a signal, for commands that keep their progress. */
  stopHint?: string;
  /** Earlier forms of the command, by the words in place of `name`. */
  aliases?: Readonly<Record<string, Alias>>;
}

export type ValueOf<P> = P extends Parameter<infer T> ? T : never;
type OptionalKey<P> = { [K in keyof P]: undefined extends ValueOf<P[K]> ? K : never }[keyof P];
type Flat<T> = { [K in keyof T]: T[K] };
type Values<P> = Flat<
  { [K in Exclude<keyof P, OptionalKey<P>>]: ValueOf<P[K]> } & { [K in OptionalKey<P>]?: ValueOf<P[K]> }
>;

export type Arguments<C> = C extends CommandSpec<infer A, infer O> ? Values<A & O> : never;

/** Keeps the types of a declaration's parameters. */
// biome-ignore lint/complexity/noBannedTypes: the type of a command without arguments or options
export const declareCommand = <A extends ParameterMap = {}, O extends ParameterMap = {}>(
  spec: CommandSpec<A, O>,
): CommandSpec<A, O> => spec;

/** A command with its action, which is loaded when it runs. A group of commands has no action. */
export interface Command {
  spec: CommandSpec;
  run?(argv: Record<string, unknown>, context: CommandContext): Promise<CommandReport | undefined>;
  commands: readonly Command[];
}

type Action<V> = (values: V, context: CommandContext) => Promise<CommandReport | undefined>;

/** Joins a declaration with the action that takes its values. */
export function joinAction<A extends ParameterMap, O extends ParameterMap>(
  spec: CommandSpec<A, O>,
  loadAction: () => Promise<Action<Values<A & O>>>,
  commands: readonly Command[] = [],
): Command {
  const run = async (argv: Record<string, unknown>, context: CommandContext) => {
    const values = readValues(spec, argv) as Values<A & O>;
    return (await loadAction())(values, context);
  };
  return { spec, run, commands };
}

/** Declares a command that only groups others. */
export const joinGroup = (spec: CommandSpec, commands: readonly Command[]): Command => ({ spec, commands });

/** `maxRows` → `max-rows` */
export const toFlagName = (key: string): string => key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** `schema [table]` */
export function describeUsage({ name, arguments: positionals = {} }: CommandSpec): string {
  const words = Object.entries(positionals).map(([key, { isRequired }]) => (isRequired ? `<${key}>` : `[${key}]`));
  return [name, ...words].join(' ');
}

export const listChoices = ({ choices }: Parameter): readonly string[] | undefined =>
  typeof choices === 'function' ? choices() : choices;

export const readNotes = ({ notes = '' }: CommandSpec): string => (typeof notes === 'function' ? notes() : notes);

/**
 * The values of a command line that yargs has accepted.
 * @throws PricelakeError `usage` for a value that its parameter refuses, and for options that don't go together
 */
export function readValues(
  { arguments: positionals = {}, options = {} }: CommandSpec,
  argv: Record<string, unknown>,
): Record<string, unknown> {
  const isGiven = (key: string) => argv[toFlagName(key)] !== undefined;
  const values = Object.entries({ ...positionals, ...options }).flatMap(([key, parameter]) => {
    if (!isGiven(key)) return [];
    const flag = key in positionals ? `<${key}>` : `--${toFlagName(key)}`;
    const { excludes = [], needs, list, type } = parameter;
    const other = excludes.find(isGiven);
    if (other !== undefined) {
      const message = `${flag} and --${toFlagName(other)} can't be used together`;
      throw new PricelakeError('usage', message, { hint: 'Use only one of them.' });
    }
    if (needs !== undefined && !isGiven(needs)) {
      throw new PricelakeError('usage', `${flag} needs --${toFlagName(needs)}`, { hint: 'Use both.' });
    }
    const typed = argv[toFlagName(key)];
    // `--no-lake` is false.
    if (typeof typed === 'boolean' && type !== 'boolean') throw new PricelakeError('usage', `${flag} needs a value`);
    if (list === undefined && Array.isArray(typed))
      throw new PricelakeError('usage', `${flag} is given more than once`);
    return [[key, parameter.read(typed, flag)] as const];
  });
  return Object.fromEntries(values);
}
