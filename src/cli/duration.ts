import { PricelakeError } from '../errors/errors.js';

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * `90s`, `20m`, `2h` or `1d` → milliseconds.
 * @throws PricelakeError `usage` naming the flag.
 */
export function readDuration(flag: string, text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (ms > 0) return ms;
  throw new PricelakeError('usage', `${flag} ${text} is not a duration such as 90s, 20m or 2h`);
}
