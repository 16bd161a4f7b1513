import { countOf, formatCount } from '../formats/count.js';

export interface Advice {
  /** The text that follows the number of violations, such as `[price is|prices are] below zero`. */
  found?: string | undefined;
  next: string;
}

/** Describes a result as `2 prices are below zero.` Without `found`, returns the description of the check. */
export function describeFinding(
  { violations, description }: { violations: bigint; description: string },
  advice: Pick<Advice, 'found'> | undefined,
): string {
  if (advice?.found === undefined) return `${countOf(violations, 'violation')}: ${description}`;
  const words = advice.found.replace(/\[([^|\]]*)\|([^\]]*)\]/gu, violations === 1n ? '$1' : '$2');
  return `${formatCount(violations)} ${words}.`;
}
