import { statSync } from 'node:fs';
import { PricelakeError } from '../io/errors.js';

export const ENV_FILE = '.env';

/**
 * Sets the variables of `.env` in the current folder that are not set already.
 * @throws PricelakeError `config` if it can't be read
 */
export function loadEnvFile(file = ENV_FILE): void {
  // Virtual environments of Python are folders of this name.
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  try {
    process.loadEnvFile(file);
  } catch {
    throw new PricelakeError('config', `${file} in this folder can't be read`, {
      hint: 'Fix its permissions, or remove it.',
    });
  }
}

/** A line `NAME=value` that `loadEnvFile` reads back unchanged. */
export function formatVariable(name: string, value: string): string {
  const quote = /^[\w.:/+=@%-]*$/u.test(value) ? '' : ["'", '"', '`'].find((mark) => !value.includes(mark));
  return `${name}=${quote ?? ''}${value}${quote ?? ''}\n`;
}
