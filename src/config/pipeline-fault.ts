import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import { pipelineSchema } from './pipeline-schema.js';

/** Returns `file:line:column` of a key or, if the key is missing, of the mapping that should contain it. */
export type Locate = (path: readonly PropertyKey[]) => string;

const EXAMPLE = 'For a commented example, see pipelines/prices.yaml in the package.';

/** Returns a `config` error for the first problem: where it is, what kind of value was found, and what is allowed. */
export function explainFault(value: unknown, issues: readonly z.core.$ZodIssue[], locate: Locate): PricelakeError {
  const [first] = issues as [z.core.$ZodIssue];
  // Reports an unknown key first. If the key is misspelled, the correct key is missing, which causes another error.
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  return unknown === undefined ? explainValue(value, first, locate) : explainKey(unknown, locate);
}

/** Describes an unknown key. Quotes the key only if it is similar to a known key. Any other key may be a secret. */
function explainKey({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, locate: Locate): PricelakeError {
  const key = keys[0] ?? '';
  const allowed = Object.keys(shapeAt(path) ?? {});
  const guess = suggestName(key, allowed);
  const where = locate([...path, key]);
  if (guess !== undefined) {
    const name = [...(path.length === 0 ? [] : [namePath(path)]), key].join('.');
    return new PricelakeError('config', `${where}: unknown key "${name}"`, { hint: `Did you mean "${guess}"?` });
  }
  const holder = path.length === 0 ? 'the file' : namePath(path);
  const message = `${where}: ${holder} has an unknown key`;
  return new PricelakeError('config', message, { hint: `Allowed here: ${allowed.join(', ')}.` });
}

/** Describes the kind of a value. Doesn't quote the value, because it may be a secret. */
function explainValue(root: unknown, { path, message }: z.core.$ZodIssue, locate: Locate): PricelakeError {
  const name = path.length === 0 ? 'the file' : namePath(path);
  const value = path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step], root);
  return new PricelakeError('config', `${locate(path)}: ${name} is ${describe(value)}; it ${message}`, {
    hint: EXAMPLE,
  });
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null || value === '') return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? String(value) : 'a number';
}

/** Formats a path as `lake.path`. Omits names chosen by the user, such as names of checks. */
export function namePath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) => {
      const isKnown = Object.hasOwn(shapeAt(path.slice(0, index)) ?? {}, step) || /^\d{1,6}$/.test(String(step));
      return isKnown ? String(step) : '<name>';
    })
    .join('.');
}

function shapeAt(path: readonly PropertyKey[]): Record<string, z.core.$ZodType> | undefined {
  let schema: z.core.$ZodType = pipelineSchema;
  for (const step of path) schema = memberOf(schema, String(step)) ?? schema;
  return shapeOf(schema);
}

function memberOf(schema: z.core.$ZodType, name: string): z.core.$ZodType | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodRecord) return inner.valueType as z.core.$ZodType;
  if (inner instanceof z.ZodArray) return inner.element as z.core.$ZodType;
  const catchall = inner instanceof z.ZodObject ? inner.def.catchall : undefined;
  return shapeOf(inner)?.[name] ?? (catchall instanceof z.ZodObject ? catchall : undefined);
}

function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional || inner instanceof z.ZodPrefault) {
      inner = inner.def.innerType;
    } else if (inner instanceof z.ZodPipe) inner = inner.def.in;
    else return inner;
  }
}
