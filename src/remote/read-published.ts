import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { POINTER_FILE, type Pointer, parsePointer } from '../lake/pointer.js';
import { openStore } from './remote.js';

/**
 * Reads what a remote published last from its `lake.json`, and nothing else. Undefined if it has published nothing.
 * @throws PricelakeError `unavailable` if it does not answer in `ms` milliseconds, and as the store does
 */
export async function readPublished(address: string, io: Io, ms: number): Promise<Pointer | undefined> {
  const store = await openStore(address, io);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new PricelakeError('unavailable', `${store.url}: no answer in ${ms / 1000} seconds`));
    }, ms);
  });
  try {
    const stored = await Promise.race([store.read(POINTER_FILE), late]);
    return stored && parsePointer(`${store.url}: ${POINTER_FILE}`, stored.bytes.toString());
  } finally {
    clearTimeout(timer);
    store.close();
  }
}
