import v8 from 'node:v8';

/** The V8 flag for the percentage by which the heap may grow before garbage is collected. With 0, V8 decides. */
const GROWTH = '--heap-growing-percent';

/** The number of streams that are being read now. */
let works = 0;

/**
 * Makes V8 collect garbage less often while `work` reads a stream. Otherwise, V8 would scan the whole heap after each
 * 24 MB of chunks, although the chunks are outside the heap.
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
