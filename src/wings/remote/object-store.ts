import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../../io/errors.js';

/** The maximum size of an object that is read into memory. `lake.json` needs about 200 bytes for each data file. */
export const SMALL_BYTES = 128 * 1024 * 1024;

export interface StoredObject {
  bytes: Buffer;
  /** The time at which the object was written. `readAt` is the time of this read. Both come from the store's clock. */
  writtenAt: Date;
  readAt: Date;
}

export interface ListedObject {
  key: string;
  bytes: number;
  writtenAt: Date;
}

/**
 * Accesses a lake's objects in object storage. Keys are relative to the lake's prefix. A write is atomic, and all later
 * reads and lists return its result. Transient errors are retried. All methods throw PricelakeErrors, which contain no
 * secrets.
 */
export interface ObjectStore {
  readonly url: string;
  /** Reads an object; undefined if it doesn't exist. Throws if it is larger than `maxBytes` (default `SMALL_BYTES`). */
  read(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  write(key: string, bytes: Buffer): Promise<void>;
  /** Creates an object. Returns false if an object with this key already exists, even if it has the same content. */
  create(key: string, bytes: Buffer): Promise<boolean>;
  /** Creates or replaces an object. Its content is the first `bytes` bytes of the file at `path`. */
  upload(key: string, path: string, bytes: number): Promise<void>;
  /**
   * Downloads an object to a new file, and flushes the file to disk.
   * @returns the SHA-256 hash of the object in hexadecimal
   * @throws if the object is larger than `maxBytes`
   */
  download(key: string, path: string, maxBytes: number): Promise<string>;
  /** Lists objects in the order of their keys. With a limit, the list may end after this number of objects. */
  list(prefix: string, limit?: number): Promise<ListedObject[]>;
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Throws if a store ignores `If-None-Match: *`, because then two writers could write the same log entry.
 * @throws PricelakeError `config`; the lake in the store stays unchanged
 */
export async function refuseUnconditional(store: ObjectStore): Promise<void> {
  const key = `_pricelake/probe/${randomUUID()}`;
  const isCreated = await store.create(key, Buffer.from('1'));
  try {
    const isTaken = !(await store.create(key, Buffer.from('2')));
    const kept = (await store.read(key))?.bytes.toString();
    // If the response was lost, `isCreated` is false although this process created the object, so it isn't checked.
    if (isTaken && kept === '1') return;
    const what = isCreated
      ? 'it overwrites existing objects'
      : `it returned ${kept ?? 'nothing'} instead of the object that was created`;
    throw new PricelakeError('config', `${store.url}: the store ignores If-None-Match: ${what}`, {
      hint: "In this store, two machines could overwrite each other's files. Use AWS S3, MinIO, Ceph, R2, or another store with conditional writes.",
    });
  } finally {
    await store.remove([key]);
  }
}
