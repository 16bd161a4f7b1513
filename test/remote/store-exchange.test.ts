import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { removeBelow, StoreExchange } from '../../src/remote/store-exchange.js';
import { makeFolder } from '../journal/folder.js';
import { makeMemoryStore } from './memory-store.js';

const SESSION = '3f0c0e0a-3a52-4d0e-9a53-6f6f3a3b0c11';

/** A run's end of an exchange with a slow store, and a file for each of its tasks. */
async function openExchange() {
  const root = await makeFolder();
  const folder = path.join(root, '_pricelake/work');
  await mkdir(folder, { recursive: true });
  const files = Array.from({ length: 40 }, (_, task) => path.join(folder, `${task}.parquet`));
  await Promise.all(files.map((file) => writeFile(file, file)));
  const store = makeMemoryStore();
  const { upload } = store;
  const seen = { now: 0, most: 0, all: 0 };
  store.upload = async (...sent) => {
    seen.now += 1;
    seen.all += 1;
    seen.most = Math.max(seen.most, seen.now);
    await wait(10);
    await upload(...sent);
    seen.now -= 1;
  };
  const exchange = new StoreExchange({
    store,
    root,
    address: { kind: 'remote', home: root, url: store.url, session: SESSION },
    close: () => removeBelow(store, '_pricelake/exchange/'),
  });
  return { exchange, files, seen, store };
}

test('many tasks at once send few files at a time, so that their memory and patience suffice', async () => {
  const { exchange, files, seen, store } = await openExchange();
  await Promise.all(files.map((file) => exchange.put([file, files[0] as string])));
  expect(store.objects.size).toBe(40);
  expect(seen).toEqual({ now: 0, most: 4, all: 40 });
});

test('an exchange that closes sends nothing more, and leaves nothing of what was on its way', async () => {
  const { exchange, files, seen, store } = await openExchange();
  const sent = files.map((file) => exchange.put([file]));
  const settled = Promise.allSettled(sent);
  await wait(15);
  await exchange.close();
  await settled;
  expect(seen.all).toBeLessThan(20);
  expect(store.objects.size).toBe(0);
});
