import { readFile } from 'node:fs/promises';
import { loadChecks } from '../check/load.js';
import { configureChecks } from '../check/settings.js';
import { PricelakeError } from '../io/errors.js';
import { explainFault, type Locate, namePath } from './pipeline-fault.js';
import {
  type KeySource,
  type Pipeline,
  pipelineSchema,
  type ReadingSettings,
  type ReceiverSettings,
} from './pipeline-schema.js';
import { parseYaml } from './pipeline-yaml.js';

export type { Pipeline } from './pipeline-schema.js';

const ENVIRONMENT_ONLY = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const VARIABLE = /\$\{([^}]*)\}?/g;

/** Reasons why a file can't be read, by the system's code. */
const READ_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read',
};

/** Reads a pipeline file. Every fault is a `config` error that says file, line, what is there and what is allowed. */
export async function readPipeline(file: string, env: NodeJS.ProcessEnv): Promise<Pipeline> {
  const { values, locate } = await readValues(file, env, ['webhook']);
  const { source, webhook: _, ...rest } = values;
  await refuseWrongChecks(rest, locate);
  return { ...rest, file, source: { ...source, apiKey: await resolveKey(source.apiKey, locate) } };
}

/** Reads the settings for commands that only read the lake; secrets may be missing. Faults as of `readPipeline`. */
export async function readReadingSettings(file: string, env: NodeJS.ProcessEnv): Promise<ReadingSettings> {
  const { values, locate } = await readValues(file, env, ['source', 'webhook']);
  await refuseWrongChecks(values, locate);
  return values;
}

/** Reads the settings for the webhook receiver, which needs no key. Faults as of `readPipeline`. */
export async function readReceiver(file: string, env: NodeJS.ProcessEnv): Promise<ReceiverSettings> {
  const { values } = await readValues(file, env, ['source']);
  const secret = values.webhook?.secret;
  if (secret === undefined) {
    const hint = `write webhook: {secret: "\${PRICELAKE_WEBHOOK_SECRET}"} and set the variable`;
    throw new PricelakeError('config', `${file}: webhook.secret is missing; deliveries are checked by it`, { hint });
  }
  return { file, lakePath: values.lake.path, secrets: Array.isArray(secret) ? secret : [secret] };
}

/** Variables in `unused` sections may be unset: a run needs no signing secret, and the receiver no key. */
async function readValues(file: string, env: NodeJS.ProcessEnv, unused: ('source' | 'webhook')[]) {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const hint = 'Name another pipeline file, or write one with `pricelake init`.';
    throw new PricelakeError('config', `${file}: ${explainRead(cause)}`, { hint }, { cause });
  });
  const { value, locate } = parseYaml(file, text);
  refuseLiteralSecrets(value, locate);
  const replaced = replaceVariables(value, { env, unused, locate }, []);
  const parsed = pipelineSchema.safeParse(replaced);
  if (!parsed.success) throw explainFault(replaced, parsed.error.issues, locate);
  return { values: parsed.data, locate };
}

function explainRead(cause: NodeJS.ErrnoException): string {
  return READ_FAULTS[cause.code ?? ''] ?? cause.message;
}

/** Values that must not be in the file, because it may be shared. */
const SECRETS = [
  { section: 'source', key: 'apiKey', variable: 'PRICELAKE_API_KEY', path: '/path/of/the/key' },
  { section: 'webhook', key: 'secret', variable: 'PRICELAKE_WEBHOOK_SECRET', path: '/path/of/the/secret' },
] as const;

function refuseLiteralSecrets(value: unknown, locate: Locate): void {
  for (const { section, key, variable, path } of SECRETS) {
    const secret = (value as Record<string, Record<string, unknown> | null> | null)?.[section]?.[key];
    const isLiteral = [secret]
      .flat()
      .some((one) =>
        typeof one === 'string' ? !ENVIRONMENT_ONLY.test(one) : ['number', 'bigint'].includes(typeof one),
      );
    // The schema reports a list in place of one value.
    if (!isLiteral || (Array.isArray(secret) && key === 'apiKey')) continue;
    // Don't repeat the text: it may be the secret.
    throw new PricelakeError('config', `${locate([section, key])}: ${section}.${key} must not be in the file`, {
      hint: `Write ${key}: \${${variable}} and set the variable, or write ${key}: {file: ${path}}. Others may read the pipeline file.`,
    });
  }
}

interface Variables {
  env: NodeJS.ProcessEnv;
  /** Their variables stay as they are. */
  unused: string[];
  locate: Locate;
}

function replaceVariables(value: unknown, variables: Variables, path: string[]): unknown {
  const { env, unused, locate } = variables;
  if (path.length === 1 && unused.includes(path[0] as string)) return value;
  const replaceMember = (member: unknown, name: string) => replaceVariables(member, variables, [...path, name]);
  if (typeof value === 'string') {
    return value.replaceAll(VARIABLE, (expression, name: string) => {
      const where = `${locate(path)}: ${namePath(path)}`;
      if (!ENVIRONMENT_ONLY.test(expression)) {
        throw new PricelakeError('config', `${where} has a $\{ that begins no variable; write \${NAME}`);
      }
      const text = env[name];
      if (text !== undefined && text !== '') return text;
      // Other text in braces may be the secret itself.
      const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : undefined;
      throw new PricelakeError('config', `${where}: the environment variable ${shown ?? 'that it names'} is not set`, {
        hint: `Set it${shown === undefined ? '' : ` (export ${shown}=…)`}, then run the same command again.`,
      });
    });
  }
  if (Array.isArray(value)) return value.map((element, index) => replaceMember(element, String(index)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceMember(member, name)]));
}

/** Refused early, because a whole copy may be paid for before checks run. */
async function refuseWrongChecks(
  { checks: settings, checksFolder }: Pick<Pipeline, 'checks' | 'checksFolder'>,
  locate: Locate,
): Promise<void> {
  if (Object.keys(settings).length === 0 && checksFolder === undefined) return;
  const checks = await loadChecks(checksFolder);
  for (const [name, setting] of Object.entries(settings)) {
    try {
      configureChecks(checks, { [name]: setting });
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      throw new PricelakeError(error.code, `${locate(['checks', name])}: ${error.message}`, error.facts);
    }
  }
}

/** No message repeats the path or the system's error, because the path may be the key by mistake. */
async function resolveKey(key: KeySource, locate: Locate): Promise<string> {
  if (typeof key === 'string') return key;
  const where = `${locate(['source', 'apiKey', 'file'])}: the file of source.apiKey.file`;
  const text = await readFile(key.file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new PricelakeError('config', `${where}: ${READ_FAULTS[code ?? ''] ?? `it can't be read (${code})`}`);
  });
  if (text.trim() === '') throw new PricelakeError('config', `${where}: it is empty`);
  return text.trim();
}
