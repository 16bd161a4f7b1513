import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../api/client.js';
import { PricelakeError } from '../../io/errors.js';
import { type AccountPlan, fetchAccountPlan } from '../../source/account.js';
import type { CommandContext } from '../command.js';
import { ENV_FILE, formatVariable } from '../env-file.js';
import { formatError } from '../exit-codes.js';
import { toPlainLine } from '../plain-text.js';
import type { Prompter } from '../terminal-io.js';

type Source = Record<'PRICELAKE_BASE_URL' | 'PRICELAKE_API_KEY', string>;

export interface Place {
  folder: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Asks for the address of the service and the key, checks both with one call, and keeps them in `.env` of this folder.
 * Returns false after an empty answer.
 */
export async function askSource(prompter: Prompter, context: CommandContext, place: Place): Promise<boolean> {
  for (;;) {
    const source = await ask(prompter, place.env);
    if (source === undefined) return false;
    context.io.protectSecret(source.PRICELAKE_API_KEY);
    const plan = await checkSource(source, context).catch((error: unknown) => {
      if (!(error instanceof PricelakeError) || error.code === 'stopped') throw error;
      return error;
    });
    if (plan instanceof PricelakeError) {
      await context.output.write(`${context.io.redact(formatError(plan))}\n\n`);
      continue;
    }
    await context.output.write(`The key works: plan ${toPlainLine(plan.name)}.\n`);
    await context.output.write(await keep(source, place));
    return true;
  }
}

async function ask(prompter: Prompter, env: NodeJS.ProcessEnv): Promise<Source | undefined> {
  const { PRICELAKE_BASE_URL: url = '', PRICELAKE_API_KEY: key = '' } = env;
  const known = url === '' ? '' : ` [${toPlainLine(url)}]`;
  const baseUrl = (await prompter(`Service address${known}: `)) || url;
  if (baseUrl === '') return undefined;
  const kept = key === '' ? '' : ' [keep the current one]';
  const apiKey = (await prompter(`API key (hidden)${kept}: `, true)) || key;
  return apiKey === '' ? undefined : { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: apiKey };
}

async function checkSource(source: Source, { io, signal }: CommandContext): Promise<AccountPlan> {
  const { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: apiKey } = source;
  const client = createClient({ baseUrl, apiKey, signal, attempts: 2 }, io);
  try {
    return await fetchAccountPlan(client);
  } finally {
    await client.close();
  }
}

/** Adds variables that the environment lacks to `.env`. The user has to change a file that has other values. */
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
