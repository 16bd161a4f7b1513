import pLimit from 'p-limit';

/**
 * Does `work` for each of the list, `concurrency` at a time, and returns what came of them in order. After a failure
 * nothing more is begun, and the error is thrown when what was under way has ended: nothing works on behind it.
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

/** Waits for all, also when one fails: nothing works on behind the error. */
export async function settleAll<T extends readonly unknown[]>(
  works: {
    readonly [K in keyof T]: Promise<T[K]>;
  },
): Promise<T> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
