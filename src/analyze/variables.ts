import { readFileSync } from 'node:fs';
import { PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { suggestName } from '../io/suggest-name.js';
import { isTimeZone } from '../io/time-zone.js';
import { readAnalysis } from '../sql/model.js';

/** Kinds of values that a header can declare, besides a list of choices. */
export const KINDS = [
  ...(['text', 'number', 'whole number', 'whole numbers', 'true or false', 'day', 'time', 'list'] as const),
  ...(['category', 'product', 'brand', 'currency', 'site', 'run', 'time zone'] as const),
] as const;
export type Kind = (typeof KINDS)[number];

export interface Variable {
  name: string;
  kind: Kind | 'choice' | 'choices';
  /**
   * The allowed values of a choice. A value of `choices` consists of several of these values, which the user joins with
   * "and" or commas.
   */
  choices: readonly string[];
  from?: number;
  to?: number;
  /** A description of the default; undefined if the variable has no default. */
  default?: string;
  isRequired: boolean;
  about: string;
}

const READS_SPELLS = /\bprice_spells\b/u;
const withoutComments = (sql: string) => sql.replaceAll(/(?<=^|\()\s*--.*$/gmu, '');

const HEADER = /^(?:--.*\n)*/u;
const START = '-- Variables:\n';
const ENTRY = /^(?<name>[a-z_]\w*) \((?<type>[^;)]+)(?:; (?<rest>required|default [^)]+))?\): (?<about>.+)$/u;
const TYPE = /^(?<kind>[a-z ]+?)(?: from (?<from>-?[\d.]+))?(?: to (?<to>[\d.]+))?$/u;

/** Returns the comment at the start of a query, without the list of variables. */
export function readAbout(sql: string): string {
  const [before = ''] = (HEADER.exec(sql)?.[0] ?? '').split(START, 1);
  return before.replaceAll(/^-- ?/gmu, '').replaceAll(/\s+/gu, ' ').trim();
}

/**
 * Returns the variables that an analysis reads, including variables of nested queries and of the `price_spells` view.
 * @throws PricelakeError `usage` if a header is malformed
 */
export function readVariables(analysis: string): Variable[] {
  const found = new Map<string, Variable>();
  for (const file of listParts(analysis)) {
    for (const variable of declaredIn(file)) {
      if (!found.has(variable.name)) found.set(variable.name, variable);
    }
  }
  return [...found.values()];
}

function listParts(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = withoutComments(readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8'));
  for (const [, part = ''] of text.matchAll(/\(FROM '(\w+)\.sql'\)/gu)) listParts(part, seen);
  if (READS_SPELLS.test(text)) listParts('price_spells', seen);
  return seen;
}

function declaredIn(file: string): Variable[] {
  return readDeclarations(readFileSync(packagePath(`pipelines/analysis/${file}.sql`), 'utf8'), file);
}

/**
 * Returns the variables that a query's header declares.
 * @throws PricelakeError `usage` with the first malformed entry
 */
export function readDeclarations(sql: string, file: string): Variable[] {
  const [, block] = (HEADER.exec(sql)?.[0] ?? '').split(START);
  if (block === undefined) return [];
  const entries = block
    .replaceAll(/\n-- {3,}/gu, ' ')
    .split('\n')
    .filter((line) => line !== '');
  return entries.map((entry) => readEntry(entry.replace(/^-- · /u, ''), file));
}

function readEntry(entry: string, file: string): Variable {
  const groups = ENTRY.exec(entry)?.groups;
  const type = groups?.type ?? '';
  const rest = groups?.rest;
  const typed = readType(type);
  if (groups === undefined || typed === undefined) {
    throw new PricelakeError('usage', `${file}: "${entry}" doesn't declare a variable`, {
      hint: 'For example, write: -- · top (whole number; default 20): number of rows',
    });
  }
  return {
    name: groups.name ?? '',
    ...typed,
    ...(rest?.startsWith('default ') ? { default: rest.slice('default '.length) } : {}),
    isRequired: rest === 'required',
    about: groups.about ?? '',
  };
}

function readType(type: string): Pick<Variable, 'kind' | 'choices' | 'from' | 'to'> | undefined {
  if (type.startsWith('any of ')) return { kind: 'choices', choices: type.slice('any of '.length).split(', ') };
  if (type.includes(' | ')) return { kind: 'choice', choices: type.split(' | ') };
  const { kind: word, from, to } = TYPE.exec(type)?.groups ?? {};
  const kind = KINDS.find((one) => one === word);
  if (kind === undefined) return undefined;
  const bounds = { ...(from && { from: Number(from) }), ...(to && { to: Number(to) }) };
  return { kind, choices: [], ...bounds };
}

/** Returns the names that a query passes to `getvariable`, including variables of the `price_spells` view. */
export function listRead(sql: string): Set<string> {
  const own = withoutComments(sql);
  const text = READS_SPELLS.test(own) ? own + withoutComments(readAnalysis('price_spells')) : own;
  return new Set([...text.matchAll(/getvariable\('(\w+)'\)/gu)].map(([, name = '']) => name));
}

/** Splits a value of `choices`: "category and shop" has two parts. */
export const splitChoices = (value: string): string[] => value.split(/\s*(?:,|\band\b)\s*/u);

/** Describes the type of a variable: `whole number from 1`, `month | week | day`. */
export function describeType({ kind, choices, from, to }: Variable): string {
  if (kind === 'choice') return choices.join(' | ');
  if (kind === 'choices') return `any of ${choices.join(', ')}`;
  return `${kind}${from === undefined ? '' : ` from ${from}`}${to === undefined ? '' : ` to ${to}`}`;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/u;
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/u;
const isDate = (text: string) => {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
};
const isNumber = (text: string) => /^-?\d+(?:\.\d+)?$/u.test(text);

/** The description and the validation of each kind of value. known-values.ts checks that a value is in the lake. */
const FORMS: Record<Kind, { what: string; fits: (text: string) => boolean }> = {
  text: { what: 'a text', fits: () => true },
  list: { what: 'a list', fits: () => true },
  category: { what: 'a category', fits: (text) => text.trim() !== '' },
  product: { what: 'a product_id or a GTIN', fits: (text) => text.trim() !== '' },
  brand: { what: 'a brand', fits: (text) => text.trim() !== '' },
  number: { what: 'a number', fits: isNumber },
  'whole number': { what: 'a whole number', fits: (text) => /^-?\d{1,18}$/u.test(text) },
  'whole numbers': { what: 'whole numbers such as 1,7,14', fits: (text) => /^\d{1,9}(?:,\s*\d{1,9})*$/u.test(text) },
  'true or false': { what: 'true or false', fits: (text) => /^(?:true|false)$/iu.test(text) },
  day: { what: 'a day such as 2026-11-20', fits: (text) => DAY.test(text) && isDate(text) },
  time: { what: 'a day or a time such as 2026-11-20T08:00:00Z', fits: (text) => TIME.test(text) && isDate(text) },
  currency: { what: 'an ISO 4217 code such as EUR', fits: (text) => /^[A-Z]{3}$/u.test(text) },
  site: { what: 'a site_id', fits: (text) => /^\d{1,18}$/u.test(text) },
  run: { what: 'the number of a run', fits: (text) => /^\d{1,9}$/u.test(text) },
  'time zone': { what: 'a time zone such as Europe/Zagreb', fits: isTimeZone },
};

/**
 * Validates values against the declarations.
 * @throws PricelakeError `usage` for an undeclared name, an invalid value (with the most similar valid value), or a
 *   missing required variable
 */
export function checkSet(
  subject: string,
  variables: readonly Variable[],
  set: Readonly<Record<string, string>>,
  { isWhole = true } = {},
): void {
  for (const [name, value] of Object.entries(set)) {
    const variable = variables.find((one) => one.name === name);
    if (variable === undefined) throw refuseName(subject, name, variables);
    const fault = findFault(variable, value);
    if (fault !== undefined)
      throw new PricelakeError('usage', `${subject}: ${name}=${value} ${fault.text}`, fault.facts);
  }
  const missing = isWhole ? variables.find(({ name, isRequired }) => isRequired && !(name in set)) : undefined;
  if (missing === undefined) return;
  throw new PricelakeError('usage', `${subject} needs ${missing.name}: ${missing.about}`, {
    hint: `Pass it with --set ${missing.name}=VALUE (${describeType(missing)}).`,
  });
}

function refuseName(subject: string, name: string, variables: readonly Pick<Variable, 'name'>[]): PricelakeError {
  const names = variables.map((one) => one.name);
  const near = suggestName(name, names);
  const all = names.length === 0 ? "It doesn't use any variables." : `It uses ${names.join(', ')}.`;
  return new PricelakeError('usage', `${subject} has no variable named ${name}`, {
    hint: near === undefined ? all : `Did you mean ${near}?`,
  });
}

/**
 * Requires that SQL that doesn't declare its variables reads each variable that the user set.
 * @throws PricelakeError `usage` if the SQL doesn't read a variable
 */
export function requireRead(subject: string, sql: string, set: Readonly<Record<string, string>>): void {
  const read = [...listRead(sql)].map((name) => ({ name }));
  for (const name of Object.keys(set)) {
    if (!read.some((one) => one.name === name)) throw refuseName(subject, name, read);
  }
}

function findFault(variable: Variable, value: string): { text: string; facts: { hint?: string } } | undefined {
  const { kind, choices, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = variable;
  if (kind === 'choice' || kind === 'choices') {
    const parts = kind === 'choice' ? [value] : splitChoices(value);
    const strange = parts.find((part) => !choices.includes(part));
    if (strange === undefined) return undefined;
    const near = suggestName(strange, choices);
    const hint = near === undefined ? `Choose from ${choices.join(', ')}.` : `Did you mean ${near}?`;
    return { text: `is not one of ${choices.join(', ')}`, facts: { hint } };
  }
  const isNumeric = kind === 'number' || kind === 'whole number';
  if (FORMS[kind].fits(value) && (!isNumeric || (Number(value) >= from && Number(value) <= to))) return undefined;
  const range = describeType(variable).slice(kind.length);
  return { text: `is not ${FORMS[kind].what}${range}`, facts: {} };
}
