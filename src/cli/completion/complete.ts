import type { Variable } from '../../analyze/variables.js';
import type { TableName } from '../../tables/table.js';
import { listChoices, toFlagName } from '../command.js';
import { findCommand, LISTED, nameOf, resolveAlias } from '../commands.js';
import type { Completes, Parameter } from '../parameter.js';
import { GLOBAL_OPTIONS } from '../shared-options.js';

export interface Completion {
  value: string;
  meaning?: string | undefined;
}

/** The reply that tells the shell to complete file paths itself. */
const FILES: Completion = { value: ':files' };

type Options = Readonly<Record<string, Parameter>>;

/** Returns completions for the last word of a command line, which may be a command, an option or a value. */
export async function complete(typed: readonly string[]): Promise<Completion[]> {
  const words = resolveAlias(typed);
  const [last, second] = [words.at(-1), words.at(-2)];
  if (last === '=' || second === '=') return completeSplit(words, last === '=' ? 1 : 2);
  const prefix = unquote(words.at(-1) ?? '');
  const before = words.slice(0, -1);
  const { command, rest } = findCommand(before);
  const options: Options = { ...command?.spec.options, ...GLOBAL_OPTIONS };
  const open = findOpenOption(before, options);
  const values = async () => {
    if (open !== undefined) return listValues(open, words);
    if (prefix.startsWith('-')) return listOptions(options, before);
    const commands = rest.length === 0 ? (command?.commands ?? LISTED) : [];
    const positional = Object.values(command?.spec.arguments ?? {})[countArguments(rest, options)];
    const named = commands.map((one) => ({ value: nameOf(one.spec), meaning: one.spec.describe }));
    return [...named, ...(positional === undefined ? [] : await listValues(positional, words))];
  };
  return (await values()).filter(({ value }) => value === FILES.value || value.startsWith(prefix));
}

/** Completes an option such as `--lake=x` in bash, which splits it into words at `=` and replaces only the last one. */
async function completeSplit(words: readonly string[], parts: 1 | 2): Promise<Completion[]> {
  const start = `${words.at(-1 - parts)}=`;
  const found = await complete([...words.slice(0, -1 - parts), parts === 1 ? start : `${start}${words.at(-1)}`]);
  return found.map((one) => ({
    ...one,
    value: one.value.startsWith(start) ? one.value.slice(start.length) : one.value,
  }));
}

/**
 * Removes quotes and backslashes from a word. Shells pass the word as the user typed it, possibly without the closing
 * quote.
 */
function unquote(word: string): string {
  const [first = ''] = word;
  return first === '"' || first === "'" ? word.slice(1) : word.replace(/\\(.)/gu, '$1');
}

function findOpenOption(words: readonly string[], options: Options): Parameter | undefined {
  const last = words.at(-1);
  const isOpen = ([key, { placeholder }]: [string, Parameter]) =>
    placeholder !== undefined && last === `--${toFlagName(key)}`;
  return Object.entries(options).find(isOpen)?.[1];
}

function listOptions(options: Options, words: readonly string[]): Completion[] {
  return Object.entries(options)
    .map(([key, { list, describe }]) => ({ value: `--${toFlagName(key)}`, meaning: describe, list }))
    .filter(({ value, list }) => list !== undefined || !words.includes(value));
}

function countArguments(words: readonly string[], options: Options): number {
  return words.filter((word, at) => !word.startsWith('-') && findOpenOption(words.slice(0, at), options) === undefined)
    .length;
}

async function listValues(parameter: Parameter, words: readonly string[]): Promise<Completion[]> {
  const choices = listChoices(parameter);
  if (choices !== undefined) return choices.map((value) => ({ value }));
  const { completes } = parameter;
  if (completes === undefined) return [];
  if (completes === 'files') return [FILES];
  if (completes === 'checks') return listChecks();
  if (completes === 'variables') return listSettings(words).catch(() => []);
  // Errors are ignored, because an error message would disturb the line that the user is typing.
  return readLakeValues(LAKE_VALUES[completes], words).catch(() => []);
}

/** For each kind of value, the query that lists the values in the lake. A second column describes the value. */
const LAKE_VALUES: Record<Exclude<Completes, 'files' | 'checks' | 'variables'>, { table: TableName; sql: string }> = {
  shops: { table: 'sites', sql: 'SELECT site_id, name FROM sites WHERE is_current ORDER BY name' },
  currencies: { table: 'items', sql: 'SELECT DISTINCT currency FROM items WHERE currency IS NOT NULL ORDER BY 1' },
  categories: {
    table: 'items',
    sql: 'SELECT DISTINCT category_slug FROM items WHERE category_slug IS NOT NULL ORDER BY 1',
  },
  brands: {
    table: 'items',
    sql: 'SELECT brand FROM items WHERE brand IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC, 1',
  },
};

/** The maximum number of values to list, and the time limit for reading them. */
const MOST_VALUES = 500;
const MOST_MS = 2000;

/** Completes `name=value`, where the name is a variable of the analysis that the command line names. */
async function listSettings(words: readonly string[]): Promise<Completion[]> {
  const { readVariables } = await import('../../analyze/variables.js');
  const at = words.indexOf('--analysis');
  const analysis = at < 0 ? words.find((word) => word.startsWith('--analysis='))?.slice(11) : words[at + 1];
  if (analysis === undefined) return [];
  const variables = readVariables(analysis);
  const typed = unquote(words.at(-1) ?? '');
  const named = variables.find(({ name }) => typed.startsWith(`${name}=`));
  if (named === undefined) return variables.map(({ name, about }) => ({ value: `${name}=`, meaning: about }));
  const values = named.kind === 'true or false' ? ['true', 'false'] : named.choices;
  const ofLake = SETTING_VALUES[named.kind];
  const known =
    ofLake === undefined ? values.map((value) => ({ value })) : await readLakeValues(LAKE_VALUES[ofLake], words);
  return known.map((one) => ({ ...one, value: `${named.name}=${one.value}` }));
}

const SETTING_VALUES: Partial<Record<Variable['kind'], keyof typeof LAKE_VALUES>> = {
  category: 'categories',
  brand: 'brands',
  currency: 'currencies',
  site: 'shops',
};

async function listChecks(): Promise<Completion[]> {
  const { loadChecks } = await import('../../check/load.js');
  return (await loadChecks()).map(({ name, description }) => ({ value: name, meaning: description }));
}

async function readLakeValues(
  { table, sql }: { table: TableName; sql: string },
  words: readonly string[],
): Promise<Completion[]> {
  const [{ readLake }, { findTarget }] = await Promise.all([import('../read-lake.js'), import('../find-target.js')]);
  const at = words.indexOf('--lake');
  const lake = at < 0 ? undefined : words[at + 1];
  const pipeline = words.find((word) => /\.ya?ml$/u.test(word));
  const { lake: path } = await findTarget({ lake, pipeline });
  const options = { path, tables: () => [table], signal: AbortSignal.timeout(MOST_MS) };
  return readLake(options, async ({ db }) =>
    (await db.rows(`${sql} LIMIT ${MOST_VALUES}`)).map((row) => {
      const [value, meaning] = Object.values(row);
      return { value: String(value), meaning: meaning == null ? undefined : String(meaning) };
    }),
  );
}
