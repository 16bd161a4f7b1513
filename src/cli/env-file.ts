import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { PricelakeError } from '../io/errors.js';
import { decodeUserText } from '../io/user-text.js';

export const ENV_FILE = '.env';

/**
 * Sets variables from `.env` in the current folder if they are unset or empty.
 * @throws PricelakeError `config` if the file can't be read
 */
export function loadEnvFile(file = ENV_FILE): void {
  // Ignores a folder named `.env`, which is often a Python virtual environment.
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new PricelakeError('config', `${file} in this folder can't be read`, {
      hint: 'Fix its permissions, or remove it.',
    });
  }
  for (const [name, value] of Object.entries(parseEnv(decodeUserText(bytes, file)))) {
    if ((process.env[name] ?? '') === '') process.env[name] = value;
  }
}

/** Formats a `NAME=value` line that `loadEnvFile` reads back unchanged. */
export function formatVariable(name: string, value: string): string {
  const quote = /^[\w.:/+=@%-]*$/u.test(value) ? '' : ["'", '"', '`'].find((mark) => !value.includes(mark));
  return `${name}=${quote ?? ''}${value}${quote ?? ''}\n`;
}
