import type { Advice } from '../check/finding.js';
import { loadChecks } from '../check/load.js';

/** Reads the advice of the shipped checks, by the name of the check. */
export async function loadAdvice(): Promise<ReadonlyMap<string, Advice>> {
  return new Map((await loadChecks()).map((check) => [check.name, check]));
}
