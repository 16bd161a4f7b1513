import type { PricelakeError } from '../errors.js';

/** Counts the requests that reached the service, and holds them to a limit. */
export interface CallCounter {
  count(): number;
  setLimit(left: number | null, refuse: (made: number) => PricelakeError): void;
  /** Begins a request; its end says if the service was reached. Throws when no call is left. */
  begin(): (reached: boolean) => void;
}

/** A request that is under way counts as made until it is known: side by side none passes the limit. */
export function createCallCounter(): CallCounter {
  let made = 0;
  let underWay = 0;
  let limit = Number.POSITIVE_INFINITY;
  let explain: ((made: number) => PricelakeError) | undefined;
  return {
    count: () => made,
    setLimit(left, refuse) {
      limit = left === null ? Number.POSITIVE_INFINITY : made + underWay + left;
      explain = refuse;
    },
    begin() {
      if (explain !== undefined && made + underWay >= limit) throw explain(made);
      underWay += 1;
      return (reached) => {
        underWay -= 1;
        if (reached) made += 1;
      };
    },
  };
}
