const UNITS: Record<string, number> = { MB: 1024 ** 2, GB: 1024 ** 3 };

/** `64MB` or `1GB` → bytes; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([MG]B)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0);
}
