import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../../io/errors.js';

/** The maximum size of an object that is read into memory. `lake.json` has about 200 bytes per file. */
export const SMALL_BYTES = 128 * 1024 * 1024;

export interface StoredObject {
  bytes: Buffer;
  /** According to the store's clock, like `readAt`. */
  writtenAt: Date;
  readAt: Date;
}

export interface ListedObject {
  key: string;
  bytes: number;
  writtenAt: Date;
}

/**
 * Object storage under the lake's prefix. Objects are written atomically, and all later reads and lists see them. The
 * store retries transient errors, and throws only PricelakeErrors that contain no secrets.
 */
export interface ObjectStore {
  readonly url: string;
  /** Reads an object; undefined if it doesn't exist. Throws if it exceeds `maxBytes`, by default `SMALL_BYTES`. */
  read(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  write(key: string, bytes: Buffer): Promise<void>;
  /** Creates an object. Returns false if the key exists, even with the same content. */
  create(key: string, bytes: Buffer): Promise<boolean>;
  /** Creates or replaces an object from the first `bytes` bytes of a file. */
  upload(key: string, path: string, bytes: number): Promise<void>;
  /**
   * Downloads an object to a new file and syncs it. Throws if it is larger than `maxBytes`.
   * @returns the SHA-256 hash of the object in hexadecimal
   */
  download(key: string, path: string, maxBytes: number): Promise<string>;
  /** Lists objects by key. With a limit, the list may stop after that number of objects. */
  list(prefix: string, limit?: number): Promise<ListedObject[]>;
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Rejects a store that ignores `If-None-Match: *`, because two writers could then both write the same log entry.
 * @throws PricelakeError `config`; the lake on the store stays unchanged
 */
export async function refuseUnconditional(store: ObjectStore): Promise<void> {
  const key = `_pricelake/probe/${randomUUID()}`;
  const isCreated = await store.create(key, Buffer.from('1'));
  try {
    const isTaken = !(await store.create(key, Buffer.from('2')));
    const kept = (await store.read(key))?.bytes.toString();
    // `isCreated` may be false although this process created the object, if the response to the first attempt was lost.
    if (isTaken && kept === '1') return;
    const what = isCreated
      ? 'it overwrites existing objects'
      : `it returned ${kept ?? 'nothing'} instead of the object that was created`;
    throw new PricelakeError('config', `${store.url}: the store ignores If-None-Match: ${what}`, {
      hint: 'Two machines could overwrite each other there. Use AWS S3, MinIO, Ceph, R2, or another store with conditional writes.',
    });
  } finally {
    await store.remove([key]);
  }
}
