import { parseDuration } from '../config/units.js';
import { PricelakeError } from '../errors/errors.js';

/**
 * The duration of a flag, in milliseconds.
 * @throws PricelakeError `usage` naming the flag.
 */
export function readDuration(flag: string, text: string, zero: 'allowed' | 'refused'): number {
  const ms = parseDuration(text);
  if (ms !== undefined && (ms > 0 || zero === 'allowed')) return ms;
  const or = zero === 'allowed' ? ', 7d or 0' : ' or 7d';
  throw new PricelakeError('usage', `${flag} ${text} is not a duration such as 90s, 20m, 48h${or}`);
}
