/** Formats a number like `1,234,567`. Avoids `Intl`, whose tables take 20 ms to load. */
export function formatCount(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/gu, ',');
}

/** Formats a count with its noun, like `1 shop` or `1,234 shops`. */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${Number(count) === 1 ? one : many}`;
}
