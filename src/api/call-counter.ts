import type { PricelakeError } from '../io/errors.js';

/** Called when a request has ended. */
export type EndCall = (reached: boolean, answered: boolean) => void;

/**
 * Counts the requests that reached the service, and holds them to a limit. An open request counts as made until its end
 * is known, so requests side by side never pass the limit.
 */
export function createCallCounter() {
  let made = 0;
  let refused = 0;
  let underWay = 0;
  let limit = Number.POSITIVE_INFINITY;
  let explain: ((made: number) => PricelakeError) | undefined;
  return {
    count: () => made,
    /** Those without a 200: the document does not say whether the service counts them. */
    countRefused: () => refused,
    setLimit(left: number | null, refuse: (made: number) => PricelakeError): void {
      limit = left === null ? Number.POSITIVE_INFINITY : made + underWay + left;
      explain = refuse;
    },
    /** Throws if no call is left. */
    begin(): EndCall {
      if (explain !== undefined && made + underWay >= limit) throw explain(made);
      underWay += 1;
      return (reached, answered) => {
        underWay -= 1;
        if (reached) made += 1;
        if (reached && !answered) refused += 1;
      };
    },
  };
}
