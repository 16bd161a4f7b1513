import { readFile } from 'node:fs/promises';
import { loadChecks } from '../check/load.js';
import { configureChecks } from '../check/settings.js';
import { findReceiverFault } from '../formats/receiver-url.js';
import { PricelakeError } from '../io/errors.js';
import { decodeUserText, readUserText } from '../io/user-text.js';
import type { Pipeline } from './pipeline.js';
import { explainFault, type Locate, namePath } from './pipeline-fault.js';
import {
  type KeySource,
  type NotifySettings,
  pipelineSchema,
  type ReadingSettings,
  type ReceiverSettings,
} from './pipeline-schema.js';
import { parseYaml } from './pipeline-yaml.js';
import { readUserMatches } from './user-matches.js';

export type { Pipeline } from './pipeline.js';

const ENVIRONMENT_ONLY = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const VARIABLE = /\$\{([^}]*)\}?/g;

/** The messages for the system's error codes, if a file can't be read. */
const READ_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** Reads a pipeline file. @throws PricelakeError `config` with file, line, what was found and what is allowed */
export async function readPipeline(file: string, env: NodeJS.ProcessEnv): Promise<Pipeline> {
  const { values, locate } = await readValues(file, env, ['webhook', 'notify']);
  const { source, webhook: _webhook, notify: _notify, ...rest } = values;
  await refuseWrongChecks(rest, locate);
  const { matches } = rest.analysis;
  const userMatches = matches === undefined ? {} : { userMatches: await readUserMatches(matches) };
  return { ...rest, ...userMatches, file, source: { ...source, apiKey: await resolveKey(source.apiKey, locate) } };
}

/** Reads the settings that commands need to read a lake. They include no secrets. Throws like `readPipeline`. */
export async function readReadingSettings(file: string, env: NodeJS.ProcessEnv): Promise<ReadingSettings> {
  const { values, locate } = await readValues(file, env, ['source', 'webhook', 'notify']);
  await refuseWrongChecks(values, locate);
  return values;
}

/** Reads the settings of the webhook receiver, which needs no API key. Throws like `readPipeline`. */
export async function readReceiver(file: string, env: NodeJS.ProcessEnv): Promise<ReceiverSettings> {
  const { values } = await readValues(file, env, ['source', 'notify']);
  const secret = values.webhook?.secret;
  if (secret === undefined) {
    const hint = `write webhook: {secret: "\${PRICELAKE_WEBHOOK_SECRET}"} and set the variable`;
    throw new PricelakeError(
      'config',
      `${file}: webhook.secret is missing; the receiver needs it to verify deliveries`,
      { hint },
    );
  }
  return { file, lakePath: values.lake.path, secrets: Array.isArray(secret) ? secret : [secret] };
}

/** Reads the receivers of notifications, with their addresses. Throws like `readPipeline`. Errors quote no address. */
export async function readNotify(file: string, env: NodeJS.ProcessEnv): Promise<NotifySettings> {
  const { values, locate } = await readValues(file, env, ['source', 'webhook']);
  for (const [index, { slack, teams, url }] of values.notify.entries()) {
    for (const [key, address] of Object.entries({ slack, teams, url })) {
      const fault = address === undefined ? undefined : findReceiverFault(address);
      const path = ['notify', index, key];
      if (fault !== undefined) throw new PricelakeError('config', `${locate(path)}: ${namePath(path)} ${fault}`);
    }
  }
  return values;
}

/**
 * Reads and validates the file. Doesn't replace variables in the sections `unused`, so these variables needn't be set.
 * For example, the webhook receiver doesn't need the API key.
 */
async function readValues(file: string, env: NodeJS.ProcessEnv, unused: ('source' | 'webhook' | 'notify')[]) {
  const text = await readUserText(file).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof PricelakeError) throw cause;
    const hint = 'Use another pipeline file, or create one with `pricelake init`.';
    throw new PricelakeError('config', `${file}: ${explainRead(cause)}`, { hint }, { cause });
  });
  const { value, locate } = parseYaml(file, text);
  refuseLiteralSecrets(value, locate);
  refuseLiteralAddresses(value, locate);
  const replaced = replaceVariables(value, { env, unused, locate }, []);
  const parsed = pipelineSchema.safeParse(replaced);
  if (!parsed.success) throw explainFault(replaced, parsed.error.issues, locate);
  return { values: parsed.data, locate };
}

function explainRead(cause: NodeJS.ErrnoException): string {
  return READ_FAULTS[cause.code ?? ''] ?? cause.message;
}

/** Settings whose values must not be in the file itself, because the file may be shared. */
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
    // Ignores a list of API keys. The schema reports this error.
    if (!isLiteral || (Array.isArray(secret) && key === 'apiKey')) continue;
    // Doesn't quote the text, because it may be the secret.
    throw new PricelakeError('config', `${locate([section, key])}: ${section}.${key} must not be in the file`, {
      hint: `Write ${key}: \${${variable}} and set the variable, or write ${key}: {file: ${path}}. Others may read the pipeline file.`,
    });
  }
}

/** Throws if the file contains an address, because anyone who knows a receiver's address can send messages to it. */
function refuseLiteralAddresses(value: unknown, locate: Locate): void {
  const receivers = (value as { notify?: unknown } | null)?.notify;
  if (!Array.isArray(receivers)) return;
  for (const [index, receiver] of receivers.entries()) {
    for (const key of ['slack', 'teams', 'url', 'secret']) {
      const text = (receiver as Record<string, unknown> | null)?.[key];
      if (typeof text !== 'string' || ENVIRONMENT_ONLY.test(text)) continue;
      const path = ['notify', index, key];
      throw new PricelakeError('config', `${locate(path)}: ${namePath(path)} must not be in the file`, {
        hint: `Write ${key}: \${NAME} and set the environment variable. Others may read the pipeline file.`,
      });
    }
  }
}

interface Variables {
  env: NodeJS.ProcessEnv;
  /** The sections whose variables aren't replaced. */
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
        throw new PricelakeError('config', `${where} has a $\{ that doesn't begin a variable; write \${NAME}`);
      }
      const text = env[name];
      if (text !== undefined && text !== '') return text;
      // Quotes only a valid variable name, because any other text in braces may be the secret itself.
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

/** Validates the settings of checks before a run. The checks themselves run last, when calls may have been paid for. */
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

/**
 * Reads the API key. Error messages quote neither the path nor the system's error, because a user may have entered the
 * key in place of the path.
 */
async function resolveKey(key: KeySource, locate: Locate): Promise<string> {
  if (typeof key === 'string') return key;
  const where = `${locate(['source', 'apiKey', 'file'])}: source.apiKey.file`;
  const bytes = await readFile(key.file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new PricelakeError('config', `${where}: ${READ_FAULTS[code ?? ''] ?? `it can't be read (${code})`}`);
  });
  const text = decodeUserText(bytes, where);
  if (text.trim() === '') throw new PricelakeError('config', `${where}: the file is empty`);
  return text.trim();
}
