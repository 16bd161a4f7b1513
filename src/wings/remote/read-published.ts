import type { Io } from '../../io/io.js';
import { POINTER_FILE, type Pointer, parsePointer } from '../../lake/pointer.js';
import { limitTime } from './limit-time.js';
import { openStore } from './remote.js';

/**
 * Reads what a remote published last from its `lake.json`, and nothing else. Undefined if it has published nothing.
 * @throws PricelakeError `unavailable` if it does not answer in `ms` milliseconds, and as the store does
 */
export async function readPublished(address: string, io: Io, ms: number): Promise<Pointer | undefined> {
  const store = await openStore(address, io);
  try {
    const stored = await limitTime(`${store.url}: no answer`, ms, () => store.read(POINTER_FILE));
    return stored && parsePointer(`${store.url}: ${POINTER_FILE}`, stored.bytes.toString());
  } finally {
    store.close();
  }
}
