import { parseDuration } from '../config/units.js';
import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';

/**
 * The kind of values that shell completion offers for a parameter. `files` means file paths. The other kinds are names
 * that the program looks up during the completion.
 */
export type Completes = 'files' | 'checks' | 'currencies' | 'categories' | 'brands' | 'shops' | 'variables';

/**
 * Declares an option or an argument. The parser, the help, the man page and the shell completion are derived from it.
 */
export interface Parameter<T = unknown> {
  describe: string;
  type: 'string' | 'number' | 'boolean' | 'count';
  /** The one-letter form of the option, without the dash. */
  alias?: string;
  default?: string | number | boolean;
  isRequired?: boolean;
  /** True if the option may be given without a value, in which case its value is an empty string. */
  isBare?: boolean;
  /** The allowed values. A list that is slow to build is given as a function. */
  choices?: readonly string[] | (() => readonly string[]);
  /**
   * `repeated` means that the option may be given several times. `words` means that it takes all words that follow it.
   */
  list?: 'repeated' | 'words';
  /** Keys of options that can't be combined with this one. None of these options may have a default value. */
  excludes?: readonly string[];
  /** The key of another option. The user must give that option too. */
  needs?: string;
  completes?: Completes;
  /** The placeholder for the value in the man page. */
  placeholder?: string;
  /**
   * Converts the value that yargs parsed into the value that the command receives.
   * @throws PricelakeError `usage` with a message that starts with the flag
   */
  read(typed: unknown, flag: string): T;
}

/** The optional members of a parameter's declaration. */
type Details = Partial<Omit<Parameter, 'describe' | 'type' | 'choices' | 'list' | 'read'>>;

/** The type of a value. Includes undefined unless the parameter is required or has a default. */
type Given<M, T> = M extends { default: unknown } | { isRequired: true } ? T : T | undefined;

/** Describes how to parse an option's text into a value. */
export interface Form<T> {
  /** Completes the error message "--flag VALUE is not …". */
  what: string;
  /** Converts the text to a value, or returns undefined if the text is invalid. */
  parse(text: string): T | undefined;
  placeholder: string;
  hint?: string;
}

export function value<T, const M extends Details>(form: Form<T>, describe: string, details?: M) {
  const { what, parse, placeholder, hint } = form;
  const read = (typed: unknown, flag: string): T => {
    const parsed = typeof typed === 'string' ? parse(typed) : undefined;
    if (parsed !== undefined) return parsed;
    throw new PricelakeError('usage', `${flag} ${typed} is not ${what}`, hint === undefined ? {} : { hint });
  };
  return { describe, type: 'string', placeholder, read, ...details } as Parameter<Given<M, T>>;
}

const anyText = (placeholder: string): Form<string> => ({ what: 'text', parse: (text) => text, placeholder });

export const text = <const M extends Details>(describe: string, details?: M) =>
  value(anyText('TEXT'), describe, details);

/** Declares an option whose value is a path. The shell completes such a value itself. */
const pathOf =
  (placeholder: string) =>
  <const M extends Details>(describe: string, details?: M) =>
    value(anyText(placeholder), describe, { completes: 'files', ...(details as M) });
export const file = pathOf('FILE');
export const folder = pathOf('FOLDER');

/** Declares a boolean option, which the user can also turn off with `--no-…`. */
export const flag = <const M extends Details>(describe: string, details?: M) =>
  ({ describe, type: 'boolean', read: (typed) => typed === true, ...details }) as Parameter<Given<M, boolean>>;

/** Declares an option that accepts one of several names. With `isBare`, the user may omit the name. */
export const choice = <const C extends string, const M extends Details>(
  choices: readonly C[] | (() => readonly C[]),
  describe: string,
  details?: M,
) =>
  ({
    describe,
    type: 'string',
    choices,
    placeholder: 'NAME',
    read: (typed, flag) => readChoice(String(typed), flag, choices, details?.isBare === true),
    ...details,
  }) as Parameter<Given<M, C>>;

function readChoice<C extends string>(
  typed: string,
  flag: string,
  choices: readonly C[] | (() => readonly C[]),
  isBare: boolean,
): C {
  const known: readonly string[] = typeof choices === 'function' ? choices() : choices;
  if (known.includes(typed) || (isBare && typed === '')) return typed as C;
  throw refuseChoice(flag, typed, known);
}

export function refuseChoice(what: string, given: string, known: readonly string[]): PricelakeError {
  // Every letter is similar to every other letter, so a single letter gets no suggestion.
  const near = given.length > 1 ? suggestName(given, known) : undefined;
  return new PricelakeError('usage', `${what} can't be ${given}`, {
    hint: near === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean \`${near}\`?`,
  });
}

interface Bounds {
  from: number;
  to?: number;
}

/** Declares a number option. Both bounds are inclusive. */
export function number<const M extends Details & Bounds>(
  describe: string,
  { from, to, ...details }: M,
  isWhole = false,
) {
  const kind = isWhole ? 'whole number' : 'number';
  const range = to === undefined ? `${from} or more` : `${from} to ${to}`;
  const read = (typed: unknown, flagName: string): number => {
    const isFit = typeof typed === 'number' && typed >= from && typed <= (to ?? Number.POSITIVE_INFINITY);
    if (isFit && (!isWhole || Number.isSafeInteger(typed))) return typed;
    // yargs parses text that is not a number as NaN.
    const given = Number.isNaN(typed) ? 'has a value that' : typed;
    throw new PricelakeError('usage', `${flagName} ${given} is not a ${kind} (${range})`);
  };
  return { describe, type: 'number', placeholder: 'N', read, ...details } as Parameter<Given<M, number>>;
}

export const whole = <const M extends Details & Bounds>(describe: string, details: M) =>
  number(describe, details, true);

/** Makes a parameter repeatable. The command then receives an array of values. */
export const repeated = <T>(one: Parameter<T>, list: Parameter['list'] = 'repeated') =>
  ({
    ...one,
    list,
    read: (typed, flagName) => (typed as unknown[]).map((each) => one.read(each, flagName)),
  }) as Parameter<Exclude<T, undefined>[] | undefined>;

/**
 * Parses a duration such as `90s` into milliseconds. Rejects `0` unless `orZero` is true, and durations above `most`.
 */
export function duration({ orZero = false, most }: { orZero?: boolean; most?: string } = {}): Form<number> {
  const mostMs = most === undefined ? Number.POSITIVE_INFINITY : (parseDuration(most) ?? 0);
  const limit = most === undefined ? '' : ` of at most ${most}`;
  return {
    what: `a duration${limit} such as 90s, 20m, 48h${orZero ? ', 7d or 0' : ' or 7d'}`,
    parse: (typed) => {
      const ms = parseDuration(typed);
      return ms !== undefined && (ms > 0 || orZero) && ms <= mostMs ? ms : undefined;
    },
    placeholder: 'TIME',
  };
}
