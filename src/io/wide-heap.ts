import v8 from 'node:v8';

/** Percent by which V8's heap may grow before V8 looks for garbage; 0 leaves it to V8. */
const GROWTH = '--heap-growing-percent';

let works = 0;

/**
 * Gives garbage more room during `work` that streams. Chunks of a body are garbage outside of the heap: by itself, V8
 * looks through the whole heap whenever they come to some 20 MB, since little else is in it (bench/README.md).
 */
export async function withWideHeap<T>(work: () => Promise<T>): Promise<T> {
  works += 1;
  if (works === 1) v8.setFlagsFromString(`${GROWTH}=400`);
  try {
    return await work();
  } finally {
    works -= 1;
    if (works === 0) v8.setFlagsFromString(`${GROWTH}=0`);
  }
}
