import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import type { ObjectStore } from './object-store.js';
import { holdRemote, type Remote } from './remote.js';
import { parseRemoteUrl, REMOTE_URL } from './remote-url.js';

/** The settings of a lake that say where it is. */
export interface LakePlace {
  path: string;
  remote?: string | undefined;
}

/** Opens the storage that an address names. */
export async function openStore(address: string, io: Io): Promise<ObjectStore> {
  const url = parseRemoteUrl(address);
  if (url === undefined) throw new PricelakeError('usage', `the address of a remote ${REMOTE_URL}`);
  const { openS3Store } = await import('./s3-store.js');
  return openS3Store(url, io);
}

/** Does `work` while this process holds the lake's remote; without one, it is just done. */
export async function withRemote<T>(
  { path, remote }: LakePlace,
  io: Io,
  signal: AbortSignal | undefined,
  work: (remote: Remote | undefined, stop: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (remote === undefined) return work(undefined, signal);
  const store = await openStore(remote, io);
  try {
    return await holdRemote(path, store, io, signal, work);
  } finally {
    store.close();
  }
}
