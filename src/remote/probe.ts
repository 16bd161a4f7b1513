import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../errors/errors.js';
import type { ObjectStore } from './object-store.js';

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
