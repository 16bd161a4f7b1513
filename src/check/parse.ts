import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import { loadTableSchema } from '../tables/schemas.js';
import {
  type Check,
  type CheckParameter,
  explainMisfit,
  PARAMETER_TYPES,
  type ParameterValue,
  SEVERITIES,
} from './check.js';

const KEYS = ['name', 'severity', 'description', 'found', 'next', 'scope', 'within_run', 'parameter'] as const;
const HEADER_LINE = /^--\s*([a-z_]+):\s*(.*?)\s*$/u;
const PARAMETER = /^([a-z_][a-z0-9_]*) ([A-Z]+) default (\S+): (.+)$/u;

const headerSchema = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/u, 'use lower-case letters, digits and _ for a name'),
  severity: z.enum(SEVERITIES),
  description: z.string().min(1),
  found: z.string().min(1).optional(),
  next: z.string().min(1),
  scope: z.string().optional(),
  within_run: z.string().optional(),
});

interface HeaderEntry {
  key: string;
  value: string;
  line: number;
}

/** Parses a check file: header comments and one SELECT. @throws PricelakeError `config` with file and line */
export function parseCheck(text: string, file: string): Check {
  const fail = (line: number, why: string) => new PricelakeError('config', `${file}:${line}: ${why}`);
  const entries = readHeader(text, fail);
  const fields = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
  const header = headerSchema.safeParse(fields);
  if (!header.success) {
    const issue = header.error.issues[0];
    const key = String(issue?.path[0]);
    const line = entries.find((entry) => entry.key === key)?.line;
    throw fail(
      line ?? 1,
      line === undefined ? `the header is missing a "-- ${key}:" line` : `${key}: ${issue?.message}`,
    );
  }
  const parameters = entries
    .filter(({ key }) => key === 'parameter')
    .map(({ value, line }) => parseParameter(value, (why) => fail(line, why)));
  requireDeclared(text, parameters, fail);
  const failAt = (key: string) => (why: string) => fail(entries.find((entry) => entry.key === key)?.line ?? 1, why);
  const { scope: scopeText, within_run: withinRun, ...named } = header.data;
  const scope = parseScope(scopeText, failAt('scope'));
  if (withinRun !== undefined) requireColumn('within_run', withinRun, failAt('within_run'));
  return { ...named, parameters, scope, withinRun, sql: text, file };
}

/** Parses the comment lines `-- key: value` at the start of the file. Other comments may follow them. */
function readHeader(text: string, fail: (line: number, why: string) => PricelakeError): HeaderEntry[] {
  const entries: HeaderEntry[] = [];
  for (const [index, content] of text.split(/\r?\n/u).entries()) {
    const match = HEADER_LINE.exec(content);
    if (match === null) break;
    const [, key = '', value = ''] = match;
    if (!(KEYS as readonly string[]).includes(key)) {
      throw fail(index + 1, `unknown header "${key}"${suggest(key, KEYS) || ` (${KEYS.join(', ')})`}`);
    }
    if (key !== 'parameter' && entries.some((entry) => entry.key === key))
      throw fail(index + 1, `"${key}" appears twice`);
    entries.push({ key, value, line: index + 1 });
  }
  return entries;
}

/** Returns `, meant "…"?` if a known name is similar, otherwise an empty string. */
function suggest(name: string, known: Iterable<string>): string {
  const near = suggestName(name, known);
  return near === undefined ? '' : `, meant "${near}"?`;
}

/** Parses `row` or a list of columns of items. */
function parseScope(value: string | undefined, fail: (why: string) => PricelakeError): Check['scope'] {
  if (value === undefined || value === 'row') return value;
  const columns = value.split(',').map((name) => name.trim());
  for (const name of columns) requireColumn('scope', name, fail);
  return columns;
}

function requireColumn(key: 'scope' | 'within_run', name: string, fail: (why: string) => PricelakeError): void {
  const known = loadTableSchema('items').columns.map((column) => column.name);
  if (known.includes(name)) return;
  const near = suggest(name, key === 'scope' ? ['row', ...known] : known);
  throw fail(`${key}: "${name}" is not a column of items${near}`);
}

function parseParameter(value: string, fail: (why: string) => PricelakeError): CheckParameter {
  const match = PARAMETER.exec(value);
  if (match === null) throw fail(`parameter "${value}" doesn't have the form "name TYPE default VALUE: meaning"`);
  const [, name = '', typeText = '', defaultText = '', meaning = ''] = match;
  const type = PARAMETER_TYPES.find((known) => known === typeText);
  if (type === undefined) throw fail(`parameter ${name}: type ${typeText} is not one of ${PARAMETER_TYPES.join(', ')}`);
  const fallback: ParameterValue = type === 'VARCHAR' ? defaultText : Number(defaultText);
  const misfit = explainMisfit(fallback, type);
  if (misfit !== undefined) throw fail(`parameter ${name}: default ${defaultText} is not a ${type}`);
  return { name, type, default: fallback, meaning };
}

/** Throws unless each `$name` in the SQL is declared, and each declared parameter is used. */
function requireDeclared(
  text: string,
  parameters: CheckParameter[],
  fail: (line: number, why: string) => PricelakeError,
): void {
  const declared = new Set(parameters.map(({ name }) => name));
  const used = new Set<string>();
  for (const [index, content] of text.split(/\r?\n/u).entries()) {
    // Matches whole literals and comments too, because a `$name` inside them isn't a parameter.
    for (const [, name] of content.matchAll(/'(?:[^']|'')*'|--.*|\$([a-z_][a-z0-9_]*)/gu)) {
      if (name === undefined) continue;
      used.add(name);
      if (declared.has(name)) continue;
      throw fail(
        index + 1,
        `parameter $${name} is not declared${suggest(
          `$${name}`,
          [...declared].map((one) => `$${one}`),
        )}`,
      );
    }
  }
  for (const { name } of parameters) {
    if (!used.has(name)) throw fail(1, `parameter ${name} is declared, but $${name} is not used`);
  }
}
