import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../errors/errors.js';

/** Limit of an object that is read into memory; `lake.json` has about 200 bytes a file. */
export const SMALL_BYTES = 128 * 1024 * 1024;

/** An object as it was read. */
export interface StoredObject {
  bytes: Buffer;
  /** When it was written and when it was read, both by the store's clock. */
  writtenAt: Date;
  readAt: Date;
}

/** An object as a listing shows it. */
export interface ListedObject {
  key: string;
  bytes: number;
  writtenAt: Date;
}

/**
 * What a remote lake needs of an object storage. Keys are relative to the lake's prefix. Every object is written whole or
 * not at all, and what was written is seen by every read and listing that begins later. Faults that pass are outlasted
 * inside; what is thrown is a PricelakeError, without a secret.
 */
export interface ObjectStore {
  /** Bucket, prefix and endpoint, for messages. */
  readonly url: string;
  /** Undefined where there is none. One of more than `maxBytes`, by default `SMALL_BYTES`, is refused. */
  read(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  /** Creates or replaces a small object. */
  write(key: string, bytes: Buffer): Promise<void>;
  /** Creates an object unless the key is taken; false when it is, also when it holds these very bytes. */
  create(key: string, bytes: Buffer): Promise<boolean>;
  /** Creates or replaces an object by the first `bytes` bytes of a file. */
  upload(key: string, path: string, bytes: number): Promise<void>;
  /**
   * Writes an object to a new file and syncs it; one of more than `maxBytes` is refused.
   * @returns the SHA-256 of its bytes, in hexadecimal digits
   */
  download(key: string, path: string, maxBytes: number): Promise<string>;
  /** All objects whose keys begin with `prefix`, by key; with a limit, at least so many of them. */
  list(prefix: string, limit?: number): Promise<ListedObject[]>;
  /** Removes objects; those that are missing are no fault. In no order. */
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Tries whether the store honours `If-None-Match: *`: of two writers of one log entry only one may win.
 * @throws PricelakeError `config` where it doesn't; the lake there stays as it is.
 */
export async function refuseUnconditional(store: ObjectStore): Promise<void> {
  const key = `_pricelake/probe/${randomUUID()}`;
  const isCreated = await store.create(key, Buffer.from('1'));
  try {
    const isTaken = !(await store.create(key, Buffer.from('2')));
    const kept = (await store.read(key))?.bytes.toString();
    // Not created at first: the answer to the first try was lost, and the second one found it.
    if (isTaken && kept === '1') return;
    const what = isCreated
      ? 'it overwrites objects that must not be there'
      : `it shows ${kept ?? 'nothing'} of what it took`;
    throw new PricelakeError('config', `${store.url}: the store does not honour If-None-Match: ${what}`, {
      hint: 'Two machines could overwrite each other there. Use AWS S3, MinIO, Ceph, R2, or another store with conditional writes.',
    });
  } finally {
    await store.remove([key]);
  }
}
