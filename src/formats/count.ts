/** Formats a number as `1,234,567`. Doesn't use `Intl`, because loading its tables takes 20 ms. */
export function formatCount(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/gu, ',');
}

/** Formats a number with its noun, as `1 shop` or `1,234 shops`. */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${Number(count) === 1 ? one : many}`;
}
