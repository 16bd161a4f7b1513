import v8 from 'node:v8';

/** The percentage by which V8's heap may grow between garbage collections; 0 leaves it to V8. */
const GROWTH = '--heap-growing-percent';

/** Number of streams being read. */
let works = 0;

/**
 * Makes V8 collect garbage less often while `work` reads a stream. Chunks are outside the heap, but V8 would walk the
 * whole heap for every 24 MB of them.
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
