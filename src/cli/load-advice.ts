import type { Advice } from '../check/finding.js';
import { loadChecks } from '../check/load.js';

/**
 * Reads what the user should know and do if a built-in check finds violations. The map is keyed by the check's name.
 */
export async function loadAdvice(): Promise<ReadonlyMap<string, Advice>> {
  return new Map((await loadChecks()).map((check) => [check.name, check]));
}
