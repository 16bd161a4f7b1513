import { countOf, formatCount } from '../formats/count.js';

/** A check's own file says it beside the rule. */
export interface Advice {
  /** Follows the number of rows: `[price is|prices are] below zero`. */
  found?: string | undefined;
  /** Tells where to look. */
  next: string;
}

/** `2 prices are below zero.` A check without `found` gives its rule. */
export function describeFinding(
  { violations, description }: { violations: bigint; description: string },
  advice: Pick<Advice, 'found'> | undefined,
): string {
  if (advice?.found === undefined) return `${countOf(violations, 'violation')}: ${description}`;
  const words = advice.found.replace(/\[([^|\]]*)\|([^\]]*)\]/gu, violations === 1n ? '$1' : '$2');
  return `${formatCount(violations)} ${words}.`;
}
