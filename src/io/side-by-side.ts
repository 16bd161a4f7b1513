import pLimit from 'p-limit';

/**
 * Runs `work` for each element, with at most `concurrency` calls at a time. Returns the results in order. If a call
 * fails, starts no further calls, waits for the calls in progress, and then throws the error.
 */
export async function runSideBySide<T, R>(
  concurrency: number,
  list: readonly T[],
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const limit = pLimit(concurrency);
  const results: R[] = [];
  let failure: { error: unknown } | undefined;
  const run = async (one: T, place: number) => {
    if (failure !== undefined) return;
    try {
      results[place] = await work(one);
    } catch (error) {
      failure ??= { error };
    }
  };
  await Promise.all(list.map((one, place) => limit(run, one, place)));
  if (failure !== undefined) throw failure.error;
  return results;
}

/** Waits for all promises. If any fails, throws the first error after all have settled, so that no work continues. */
export async function settleAll<T extends readonly unknown[]>(
  works: {
    readonly [K in keyof T]: Promise<T[K]>;
  },
): Promise<T> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
