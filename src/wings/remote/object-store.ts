import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../../io/errors.js';

/** Limit of objects that are read into memory; `lake.json` has about 200 bytes for each file. */
export const SMALL_BYTES = 128 * 1024 * 1024;

export interface StoredObject {
  bytes: Buffer;
  /** By the store's clock, as `readAt`. */
  writtenAt: Date;
  readAt: Date;
}

export interface ListedObject {
  key: string;
  bytes: number;
  writtenAt: Date;
}

/**
 * An object storage below the lake's prefix. Every object is written whole or not at all, and every later read and
 * listing sees it. The store retries passing faults, and throws only PricelakeErrors without secrets.
 */
export interface ObjectStore {
  /** Bucket, prefix and endpoint for messages. */
  readonly url: string;
  /** Undefined for a missing object. Refuses one of more than `maxBytes`, by default `SMALL_BYTES`. */
  read(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  /** Creates or replaces a small object. */
  write(key: string, bytes: Buffer): Promise<void>;
  /** Creates an object, or returns false if the key is taken, even by the same bytes. */
  create(key: string, bytes: Buffer): Promise<boolean>;
  /** Creates or replaces an object from the first `bytes` bytes of a file. */
  upload(key: string, path: string, bytes: number): Promise<void>;
  /**
   * Writes an object to a new file and syncs it. Refuses one of more than `maxBytes`.
   * @returns the SHA-256 of its bytes in hexadecimal
   */
  download(key: string, path: string, maxBytes: number): Promise<string>;
  /** Lists objects by key; with a limit, at least that many, if there are. */
  list(prefix: string, limit?: number): Promise<ListedObject[]>;
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Refuses a store that ignores `If-None-Match: *`, because two writers could then both write one log entry.
 * @throws PricelakeError `config`; the lake there stays unchanged
 */
export async function refuseUnconditional(store: ObjectStore): Promise<void> {
  const key = `_pricelake/probe/${randomUUID()}`;
  const isCreated = await store.create(key, Buffer.from('1'));
  try {
    const isTaken = !(await store.create(key, Buffer.from('2')));
    const kept = (await store.read(key))?.bytes.toString();
    // `isCreated` may be false although we created it, if the answer to a first try was lost.
    if (isTaken && kept === '1') return;
    const what = isCreated ? 'it overwrites existing objects' : `it shows ${kept ?? 'nothing'} of what it took`;
    throw new PricelakeError('config', `${store.url}: the store ignores If-None-Match: ${what}`, {
      hint: 'Two machines could overwrite each other there. Use AWS S3, MinIO, Ceph, R2, or another store with conditional writes.',
    });
  } finally {
    await store.remove([key]);
  }
}
