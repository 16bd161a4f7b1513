import { readFile } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { PricelakeError } from '../errors.js';
import { suggestName } from '../suggest-name.js';

const ENVIRONMENT_ONLY = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const VARIABLE = /\$\{([^}]*)\}/g;

const DAY_MS = 24 * 3600 * 1000;
const UNITS: Record<string, number> = { h: 3600 * 1000, d: DAY_MS, w: 7 * DAY_MS };

/** `7d`, `12h`, `2w` or `0` → milliseconds. */
const duration = z
  .union([z.literal(0), z.string()])
  .refine((value) => /^(0|\d+[hdw])$/.test(String(value)), 'must be a duration such as 12h, 7d, 2w or 0')
  .transform((value) => {
    const text = String(value);
    return text === '0' ? 0 : Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0);
  });

const apiKey = z.union([z.string(), z.strictObject({ file: z.string().min(1) })]);

const pipelineSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"')
    .default('prices'),
  source: z.strictObject({
    baseUrl: z.string().min(1),
    apiKey,
    history: z.enum(['feed', 'none']).default('feed'),
  }),
  lake: z.strictObject({
    path: z.string().min(1),
    tables: z.strictObject({ items: z.strictObject({ partitionBy: z.array(z.string()) }).optional() }).default({}),
  }),
  landing: z.strictObject({ keep: duration.default(7 * DAY_MS) }).prefault({}),
  checks: z
    .record(
      z.string(),
      z.strictObject({
        severity: z.enum(['gate', 'error', 'warn', 'off']).optional(),
        parameters: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
      }),
    )
    .default({}),
});

/** A pipeline file, checked, with its variables replaced. The key is resolved. */
export interface Pipeline extends Omit<z.output<typeof pipelineSchema>, 'source'> {
  file: string;
  source: { baseUrl: string; apiKey: string; history: 'feed' | 'none' };
}

/**
 * Reads a pipeline file. Every fault is a `config` error that says file, line, what stands there and what is allowed.
 */
export async function readPipeline(file: string, env: NodeJS.ProcessEnv): Promise<Pipeline> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : cause.message;
    throw new PricelakeError(
      'config',
      `${file}: ${reason}`,
      { hint: 'name a pipeline file, e.g. pricelake sync prices.yaml' },
      { cause },
    );
  });
  const { value, locate } = parseYaml(file, text);
  refuseLiteralKey(file, value, locate);
  const parsed = pipelineSchema.safeParse(replaceVariables(file, value, env, [], locate));
  if (!parsed.success) throw explainIssue(file, parsed.error.issues[0] as z.core.$ZodIssue, locate);
  const { source, ...rest } = parsed.data;
  return { ...rest, file, source: { ...source, apiKey: await resolveKey(file, source.apiKey) } };
}

type Locate = (path: readonly PropertyKey[]) => string;

function parseYaml(file: string, text: string): { value: unknown; locate: Locate } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0]);
    throw new PricelakeError('config', `${file}:${line}:${col}: not YAML: ${fault.message}`);
  }
  const locate: Locate = (path) => {
    const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined;
    return node?.range === undefined ? file : `${file}:${lines.linePos(node.range[0]).line}`;
  };
  return { value: document.toJS(), locate };
}

function refuseLiteralKey(file: string, value: unknown, locate: Locate): void {
  const key = (value as { source?: { apiKey?: unknown } } | null)?.source?.apiKey;
  if (typeof key !== 'string' || ENVIRONMENT_ONLY.test(key)) return;
  // The text is not repeated: it may be the key.
  throw new PricelakeError('config', `${locate(['source', 'apiKey'])}: source.apiKey must not stand in the file`, {
    hint: `write apiKey: \${PRICELAKE_API_KEY} and set the variable, or apiKey: {file: /path/of/the/key} (${file} may be shared)`,
  });
}

function replaceVariables(
  file: string,
  value: unknown,
  env: NodeJS.ProcessEnv,
  path: string[],
  locate: Locate,
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(VARIABLE, (_match, name: string) => {
      const text = env[name];
      if (text !== undefined && text !== '') return text;
      throw new PricelakeError(
        'config',
        `${locate(path)}: ${path.join('.')}: the environment variable ${name} is not set`,
        {
          hint: `export ${name}=… and run the same command again`,
        },
      );
    });
  }
  if (Array.isArray(value)) {
    return value.map((element, index) => replaceVariables(file, element, env, [...path, String(index)], locate));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        replaceVariables(file, member, env, [...path, name], locate),
      ]),
    );
  }
  return value;
}

function explainIssue(file: string, issue: z.core.$ZodIssue, locate: Locate): PricelakeError {
  const name = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const allowed = allowedKeys(issue.path);
    const path = [...issue.path, key];
    const guess = suggestName(key, allowed);
    const hint = guess === undefined ? `allowed here: ${allowed.join(', ')}` : `did you mean "${guess}"?`;
    return new PricelakeError('config', `${locate(path)}: unknown key "${path.join('.')}"`, { hint });
  }
  const where = name === '' ? file : `${locate(issue.path)}: ${name}`;
  return new PricelakeError('config', `${where}: ${issue.message}`, {
    hint: 'pipelines/prices.yaml of the package is a commented example',
  });
}

function allowedKeys(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType = pipelineSchema;
  for (const name of path) schema = memberSchema(schema, String(name)) ?? schema;
  return Object.keys(shapeOf(schema) ?? {});
}

function memberSchema(schema: z.core.$ZodType, name: string): z.core.$ZodType | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodRecord) return inner.valueType as z.core.$ZodType;
  return shapeOf(inner)?.[name];
}

function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional || inner instanceof z.ZodPrefault) {
    inner = inner.def.innerType;
  }
  return inner;
}

async function resolveKey(file: string, key: z.output<typeof apiKey>): Promise<string> {
  if (typeof key === 'string') return key;
  const text = await readFile(key.file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new PricelakeError(
      'config',
      `${file}: source.apiKey.file ${key.file}: ${cause.code ?? cause.message}`,
      {},
      { cause },
    );
  });
  if (text.trim() === '') throw new PricelakeError('config', `${file}: source.apiKey.file ${key.file} is empty`);
  return text.trim();
}
