const DURATIONS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Parses `90s`, `20m`, `2h`, `7d`, `2w` or `0` into milliseconds. Returns undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (DURATIONS[unit] ?? 0);
}

const SIZES: Record<string, number> = { MB: 1024 ** 2, GB: 1024 ** 3 };

/** Parses `64MB` or `1GB` into bytes. Returns undefined for any other text. */
export function parseSize(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([MG]B)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (SIZES[unit] ?? 0);
}
