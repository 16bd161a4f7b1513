import type { Dataset } from '../journal/run-entry.js';
import type { RunMode } from '../tables/table.js';
import type { RunFacts } from './run-facts.js';

export interface ProofPlan {
  facets: boolean;
  products: 'all' | 'page' | 'none';
  /** The number of items to read from the service for a comparison. */
  sample: number;
}

/**
 * Plans the comparisons with the service. If the pipeline lists several datasets, skips the comparisons of counts and
 * products, because the service counts and groups each dataset separately.
 */
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
