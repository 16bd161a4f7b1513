import { PricelakeError } from '../errors/errors.js';

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

/** `30s`, `5m`, `48h`, `7d` or `0` → milliseconds. @throws PricelakeError `usage` naming the flag */
export function parseDuration(flag: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (text === '0') return 0;
  if (count === undefined || unit === undefined) {
    throw new PricelakeError('usage', `--${flag} ${text} is not a duration such as 30s, 5m, 48h, 7d or 0`);
  }
  return Number(count) * (UNITS[unit] ?? 0);
}
