import type { RunMode } from '../tables/table.js';
import type { Dataset } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

/** Comparisons with the service that prove the copy. */
export interface ProofPlan {
  facets: boolean;
  products: 'all' | 'page' | 'none';
  /** Number of items to read again. */
  sample: number;
}

/** For several datasets, the service counts and groups each by itself, so there is nothing to compare with. */
export function planProofs(
  { settings: { proof, products } }: RunFacts,
  mode: RunMode,
  parts: readonly Dataset[],
): ProofPlan {
  const isOne = parts.length === 1;
  return {
    facets: mode === 'snapshot' && proof.facets && isOne,
    products: !isOne ? 'none' : products === 'all' ? 'all' : proof.products ? 'page' : 'none',
    sample: proof.sample,
  };
}
