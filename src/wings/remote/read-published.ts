import type { Io } from '../../io/io.js';
import { POINTER_FILE, type Pointer, parsePointer } from '../../lake/pointer.js';
import { limitTime } from './limit-time.js';
import { openStore } from './remote.js';

/**
 * Reads `lake.json` from a remote, and no other file. Returns undefined if nothing has been published to the remote.
 * @throws PricelakeError `unavailable` if the store doesn't respond within `ms` milliseconds, or another error of the
 *   store
 */
export async function readPublished(address: string, io: Io, ms: number): Promise<Pointer | undefined> {
  const store = await openStore(address, io);
  try {
    const stored = await limitTime(`${store.url}: no response`, ms, () => store.read(POINTER_FILE));
    return stored && parsePointer(`${store.url}: ${POINTER_FILE}`, stored.bytes.toString());
  } finally {
    store.close();
  }
}
