import type { Argv } from 'yargs';
import { PricelakeError } from '../errors.js';
import { suggestName } from '../suggest-name.js';

const UNKNOWN = /^Unknown (argument|command)s?: (.+)$/u;

/** A mistake on the command line as an error that names the nearest command or flag. */
export function usageError(message: string, commandNames: readonly string[], yargs: Argv): PricelakeError {
  const help = 'Run `pricelake --help`, or `pricelake <command> --help`.';
  const match = UNKNOWN.exec(message);
  if (match === null) return new PricelakeError('usage', tidy(message), { hint: help });
  const names = (match[2] ?? '').split(', ');
  if (match[1] === 'command') {
    const suggestion = suggestName(names[0] ?? '', commandNames);
    return new PricelakeError('usage', `unknown command ${names.join(', ')}`, {
      hint: suggestion === undefined ? help : `Did you mean \`pricelake ${suggestion}\`?`,
    });
  }
  const suggestion = suggestName(names[0] ?? '', listFlags(yargs));
  return new PricelakeError('usage', `unknown flag or argument ${names.join(', ')}`, {
    hint: suggestion === undefined ? help : `Did you mean \`--${suggestion}\`?`,
  });
}

/** yargs speaks over several lines; an error of ours is one. */
function tidy(message: string): string {
  const line = message.trim().replace(/\s*\n\s*/gu, ' ');
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** Flags of the command that was being parsed; `getOptions` is public in yargs, but not in its types. */
function listFlags(yargs: Argv): string[] {
  const options = (yargs as Argv & { getOptions(): { key: Record<string, unknown> } }).getOptions();
  return Object.keys(options.key);
}
