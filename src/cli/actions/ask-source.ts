import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../api/client.js';
import { PricelakeError } from '../../io/errors.js';
import { type AccountPlan, fetchAccountPlan } from '../../run/open/account.js';
import type { CommandContext } from '../command.js';
import { ENV_FILE, formatVariable } from '../env-file.js';
import { fitError, formatError } from '../exit-codes.js';
import { toPlainLine } from '../plain-text.js';
import type { Prompter } from '../terminal-io.js';

type Source = Record<'PRICELAKE_BASE_URL' | 'PRICELAKE_API_KEY', string>;

export interface Place {
  folder: string;
  env: NodeJS.ProcessEnv;
}

/** The key that is sent before the user has entered one, to check whether the service responds. */
const NO_KEY = 'none';

/**
 * Asks for the service's address until the service responds, and then for the API key until the service accepts it.
 * Saves the address and the key to `.env` in the folder. Returns false if the user enters an empty answer.
 */
export async function askSource(prompter: Prompter, context: CommandContext, place: Place): Promise<boolean> {
  const { PRICELAKE_BASE_URL: url = '', PRICELAKE_API_KEY: key = '' } = place.env;
  const known = url === '' ? '' : ` [${toPlainLine(url)}]`;
  const baseUrl = await askUntil(context, async () => {
    const answer = trimAddress((await prompter(`Service address${known}: `)) || url);
    return answer === '' ? undefined : await checkAddress(answer, context);
  });
  if (baseUrl === undefined) return false;
  const kept = key === '' ? '' : ' [keep the current one]';
  const source = await askUntil(context, async () => {
    const apiKey = (await prompter(`API key (hidden)${kept}: `, true)) || key;
    if (apiKey === '') return undefined;
    context.io.protectSecret(apiKey);
    const { name } = await fetchPlan(baseUrl, apiKey, context);
    await context.output.write(`The key works: plan ${toPlainLine(name)}.\n`);
    return { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: apiKey };
  });
  if (source === undefined) return false;
  await context.output.write(await keep(source, place));
  return true;
}

/** Calls `answer`, which asks the user a question, until it succeeds. Prints each error before it asks again. */
async function askUntil<T>({ io, output }: CommandContext, answer: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof PricelakeError) || error.code === 'stopped') throw error;
      await output.write(`${fitError(io.redact(formatError(error)), output.columns)}\n\n`);
    }
  }
}

/** Removes `/api/v1` from the end of an address that the user copied, because every call adds that path. */
const trimAddress = (typed: string) => typed.replace(/\/+$/u, '').replace(/\/api\/v1$/u, '');

async function checkAddress(baseUrl: string, context: CommandContext): Promise<string> {
  await fetchPlan(baseUrl, NO_KEY, context).catch((error: unknown) => {
    // A rejected key is fine here, because it shows that the service responds.
    if (!(error instanceof PricelakeError) || error.code !== 'unauthorized') throw error;
  });
  return baseUrl;
}

async function fetchPlan(baseUrl: string, apiKey: string, { io, signal }: CommandContext): Promise<AccountPlan> {
  const client = createClient({ baseUrl, apiKey, signal, attempts: 2 }, io);
  try {
    return await fetchAccountPlan(client);
  } finally {
    await client.close();
  }
}

/**
 * Adds variables to `.env`, except those that the environment already sets to the same value. If the file sets a
 * variable to a different value, it isn't changed. Returns a message that tells the user what to do.
 */
async function keep(source: Source, { folder, env }: Place): Promise<string> {
  const file = join(folder, ENV_FILE);
  const wanted = Object.entries(source).filter(([name, value]) => env[name] !== value);
  if (wanted.length === 0) return '';
  const text = await readFile(file, 'utf8').catch(() => '');
  const taken = wanted.find(([name]) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`, 'mu').test(text));
  if (taken !== undefined) return `${ENV_FILE} already sets a different ${taken[0]}. Change it there.\n`;
  const lines = wanted.map(([name, value]) => formatVariable(name, value)).join('');
  await appendFile(file, text === '' || text.endsWith('\n') ? lines : `\n${lines}`, { mode: 0o600 });
  const set = wanted.find(([name]) => (env[name] ?? '') !== '');
  const note = set === undefined ? '' : ` The environment sets a different ${set[0]}, which takes precedence.`;
  return `Saved to ${ENV_FILE}, which pricelake reads in this folder. Don't commit it.${note}\n`;
}
