import v8 from 'node:v8';

/** Percent by which V8's heap may grow before V8 looks for garbage; 0 leaves it to V8. */
const GROWTH = '--heap-growing-percent';

/** Streams that are read now. */
let works = 0;

/**
 * Gives garbage more room while `work` reads a stream. Its chunks are memory outside of the heap. By default, V8 goes
 * through the whole heap for every 24 MB of them, because there is little else in it (bench/README.md).
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
