import type { Advice } from '../check/finding.js';
import { loadChecks } from '../check/load.js';

/** Reads the advice for each built-in check, keyed by the check's name. */
export async function loadAdvice(): Promise<ReadonlyMap<string, Advice>> {
  return new Map((await loadChecks()).map((check) => [check.name, check]));
}
