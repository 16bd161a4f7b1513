import { PricelakeError } from '../io/errors.js';
import type { Output } from './output/output.js';
import type { Parameter } from './parameter.js';
import type { Style } from './style.js';
import type { CliIo, Prompter } from './terminal-io.js';

export interface CommandContext {
  io: CliIo;
  /** Aborted when the process receives SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  output: Output;
  /** True with `--json`. The JSON object is then the only output on stdout. */
  json: boolean;
  /** Functions that color text for stdout. */
  style: Style;
  /** Writes a message for people to stdout. Does nothing with `--json` or `--quiet`. */
  say(text: string): Promise<void>;
  /** Asks the user a question. Undefined if nobody can answer, for example because stdin is not a terminal. */
  prompter?: Prompter | undefined;
}

/** The members of the JSON object that a command prints with `--json`. The member `ok` is added when it is printed. */
export type CommandReport = Record<string, unknown>;

type ParameterMap = Readonly<Record<string, Parameter>>;

/** An earlier form of a command, which still works but isn't shown in help. */
export interface Alias {
  /** Options that the earlier form implies unless the user gives them, such as `--analysis=match_candidates`. */
  implies?: readonly string[];
  /**
   * The new form of each renamed option. For example, `{ brand: 'set=brand' }` turns `--brand=x` into `--set=brand=x`.
   */
  renames?: Readonly<Record<string, string>>;
}

/** Declares a command. The keys of options are in camel case. For example, the user types `maxRows` as `--max-rows`. */
export interface CommandSpec<A extends ParameterMap = ParameterMap, O extends ParameterMap = ParameterMap> {
  /** The command's words after `pricelake`, for example `sandbox advance`. */
  name: string;
  describe: string;
  arguments?: A;
  options?: O;
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Text to print after the examples in the command's help. A text that is slow to build is given as a function. */
  notes?: string | (() => string);
  /** For a command that can resume, the hint to print when a signal stops it. */
  stopHint?: string;
  /** Earlier forms of the command. Each key holds the words that the user types in place of `name`. */
  aliases?: Readonly<Record<string, Alias>>;
}

export type ValueOf<P> = P extends Parameter<infer T> ? T : never;
type OptionalKey<P> = { [K in keyof P]: undefined extends ValueOf<P[K]> ? K : never }[keyof P];
type Flat<T> = { [K in keyof T]: T[K] };
type Values<P> = Flat<
  { [K in Exclude<keyof P, OptionalKey<P>>]: ValueOf<P[K]> } & { [K in OptionalKey<P>]?: ValueOf<P[K]> }
>;

export type Arguments<C> = C extends CommandSpec<infer A, infer O> ? Values<A & O> : never;

/** Returns the declaration unchanged; its only purpose is to infer the types of the parameters. */
// biome-ignore lint/complexity/noBannedTypes: the type of a command without arguments or options
export const declareCommand = <A extends ParameterMap = {}, O extends ParameterMap = {}>(
  spec: CommandSpec<A, O>,
): CommandSpec<A, O> => spec;

/**
 * A command with the action that it runs. The action's code is loaded only when the command runs. A command that only
 * groups subcommands has no action.
 */
export interface Command {
  spec: CommandSpec;
  run?(argv: Record<string, unknown>, context: CommandContext): Promise<CommandReport | undefined>;
  commands: readonly Command[];
}

type Action<V> = (values: V, context: CommandContext) => Promise<CommandReport | undefined>;

/** Builds a command from its declaration and the action that receives the parsed values. */
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

/** Builds a command that only groups subcommands. */
export const joinGroup = (spec: CommandSpec, commands: readonly Command[]): Command => ({ spec, commands });

/** Converts a key to a flag name: `maxRows` → `max-rows`. */
export const toFlagName = (key: string): string => key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** Formats a command with its arguments: `schema [table]`. */
export function describeUsage({ name, arguments: positionals = {} }: CommandSpec): string {
  const words = Object.entries(positionals).map(([key, { isRequired }]) => (isRequired ? `<${key}>` : `[${key}]`));
  return [name, ...words].join(' ');
}

export const listChoices = ({ choices }: Parameter): readonly string[] | undefined =>
  typeof choices === 'function' ? choices() : choices;

export const readNotes = ({ notes = '' }: CommandSpec): string => (typeof notes === 'function' ? notes() : notes);

/**
 * Converts the arguments that yargs parsed into the values that the action receives.
 * @throws PricelakeError `usage` if a value is invalid, or if the user combined options that exclude each other
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
    // yargs parses `--no-lake` as `lake: false`, although `--lake` takes a value.
    if (typeof typed === 'boolean' && type !== 'boolean') throw new PricelakeError('usage', `${flag} needs a value`);
    if (list === undefined && Array.isArray(typed)) throw new PricelakeError('usage', `${flag} can be given only once`);
    return [[key, parameter.read(typed, flag)] as const];
  });
  return Object.fromEntries(values);
}
