import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { ObjectStore } from '../../src/wings/remote/object-store.js';

/** A store in memory, with a clock that a test can put ahead. */
export interface MemoryStore extends ObjectStore {
  objects: Map<string, { bytes: Buffer; writtenAt: Date }>;
  aheadMs: number;
}

export function makeMemoryStore(url = 's3://bucket/lakes/one'): MemoryStore {
  const now = () => new Date(Date.now() + store.aheadMs);
  const put = (key: string, bytes: Buffer) =>
    void store.objects.set(key, { bytes: Buffer.from(bytes), writtenAt: now() });
  const store: MemoryStore = {
    url,
    objects: new Map(),
    aheadMs: 0,
    read: async (key) => {
      const object = store.objects.get(key);
      return object && { ...object, readAt: now() };
    },
    write: async (key, bytes) => put(key, bytes),
    create: async (key, bytes) => {
      if (store.objects.has(key)) return false;
      put(key, bytes);
      return true;
    },
    upload: async (key, path, bytes) => put(key, (await readFile(path)).subarray(0, bytes)),
    download: async (key, path) => {
      const { bytes } = store.objects.get(key) ?? {};
      if (bytes === undefined) throw new Error(`${key}: no such object`);
      await writeFile(path, bytes);
      return createHash('sha256').update(bytes).digest('hex');
    },
    list: async (prefix) =>
      [...store.objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { bytes, writtenAt }]) => ({ key, bytes: bytes.length, writtenAt }))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    remove: async (keys) => {
      for (const key of keys) store.objects.delete(key);
    },
    close: () => {},
  };
  return store;
}

/** A store that fails from some request on, as one of a process that is dead. */
export function dieAt(
  store: ObjectStore,
  isLast: (what: string, count: number) => boolean | Promise<boolean>,
): ObjectStore {
  let [count, isDead] = [0, false];
  return new Proxy(store, {
    get(target, name: keyof ObjectStore) {
      const value = target[name];
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        isDead ||= await isLast(`${name} ${args[0]}`, ++count);
        if (isDead) throw new Error('dead');
        return (value as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}
