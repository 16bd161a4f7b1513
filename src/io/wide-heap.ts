import v8 from 'node:v8';

/** Percent by which V8's heap may grow before V8 collects garbage; 0 leaves it to V8. */
const GROWTH = '--heap-growing-percent';

/** Streams under way. */
let works = 0;

/**
 * Lets V8 collect less garbage while `work` reads a stream. Chunks are outside the heap, and for every 24 MB of them V8
 * would walk the whole heap, because little else is in it.
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
