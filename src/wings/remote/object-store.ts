import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../../io/errors.js';

/** The largest object that is read into memory. `lake.json` has about 200 bytes a file. */
export const SMALL_BYTES = 128 * 1024 * 1024;

export interface StoredObject {
  bytes: Buffer;
  /** By the store's clock, as `readAt` is. */
  writtenAt: Date;
  readAt: Date;
}

export interface ListedObject {
  key: string;
  bytes: number;
  writtenAt: Date;
}

/**
 * Object storage below the lake's prefix. An object is written completely or not at all, and every later read and
 * listing sees it. The store retries transient faults, and throws only PricelakeErrors without secrets.
 */
export interface ObjectStore {
  readonly url: string;
  /**
   * Reads an object; undefined if it does not exist. Refuses an object of more than `maxBytes`, by default
   * `SMALL_BYTES`.
   */
  read(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  write(key: string, bytes: Buffer): Promise<void>;
  /** Creates an object. Returns false if the key exists, even with the same bytes. */
  create(key: string, bytes: Buffer): Promise<boolean>;
  /** Creates or replaces an object from the first `bytes` bytes of a file. */
  upload(key: string, path: string, bytes: number): Promise<void>;
  /**
   * Downloads an object to a new file and syncs it. Refuses an object of more than `maxBytes`.
   * @returns the SHA-256 of its bytes in hexadecimal
   */
  download(key: string, path: string, maxBytes: number): Promise<string>;
  /** Lists objects by key. With a limit, the listing may stop after that many. */
  list(prefix: string, limit?: number): Promise<ListedObject[]>;
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Refuses a store that ignores `If-None-Match: *`, because two writers could then both write the same log entry.
 * @throws PricelakeError `config`; the lake there stays unchanged
 */
export async function refuseUnconditional(store: ObjectStore): Promise<void> {
  const key = `_pricelake/probe/${randomUUID()}`;
  const isCreated = await store.create(key, Buffer.from('1'));
  try {
    const isTaken = !(await store.create(key, Buffer.from('2')));
    const kept = (await store.read(key))?.bytes.toString();
    // `isCreated` may be false although we created the object, if the answer to the first try was lost.
    if (isTaken && kept === '1') return;
    const what = isCreated ? 'it overwrites existing objects' : `it shows ${kept ?? 'nothing'} of what it took`;
    throw new PricelakeError('config', `${store.url}: the store ignores If-None-Match: ${what}`, {
      hint: 'Two machines could overwrite each other there. Use AWS S3, MinIO, Ceph, R2, or another store with conditional writes.',
    });
  } finally {
    await store.remove([key]);
  }
}
