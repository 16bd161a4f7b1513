/**
 * Upper bound of a rate of which `found` of `sampled` were seen, at 95 % confidence (one-sided, Clopper–Pearson):
 * with a higher rate, so few would be found in less than 5 % of the samples. 1 for an empty sample.
 */
export function boundMismatchRate(found: number, sampled: number): number {
  if (found >= sampled) return 1;
  let low = found / sampled;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (chanceOfAtMost(found, sampled, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** P(X ≤ found) for X ~ Binomial(sampled, rate). */
function chanceOfAtMost(found: number, sampled: number, rate: number): number {
  let sum = 0;
  let logTerm = sampled * Math.log1p(-rate);
  for (let k = 0; k <= found; k++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((sampled - k) / (k + 1)) + Math.log(rate) - Math.log1p(-rate);
  }
  return sum;
}
