import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '../../src/wings/remote/object-store.js';
import type { Asked, Fault } from './s3-server.js';

export const FAULTS = ['500', '503', 'reset', 'cut', 'lost', 'hang', 'slow'] as const satisfies Fault[];

/** Lets a test cause faults between a store and its client. */
export interface FaultyWay {
  fault: (asked: Asked) => Fault | Promise<Fault>;
}

/** Every kind of request meets the fault once, and does its work all the same. `folder` is for files. */
export async function outlastFault(store: ObjectStore, way: FaultyWay, fault: Fault, folder: string): Promise<void> {
  const failOnce = (method: string) => failNth(way, fault, (asked) => asked.method === method, 1);
  const path = join(folder, 'small');
  await writeFile(path, 'bytes');
  failOnce('PUT');
  await store.upload('key', path, 5);
  failOnce('GET');
  demand('a read', (await store.read('key'))?.bytes.toString() === 'bytes');
  failOnce('GET');
  await store.download('key', join(folder, 'down'), 5);
  demand('a download', (await readFile(join(folder, 'down'), 'utf8')) === 'bytes');
  failOnce('GET');
  demand('a listing', (await store.list('')).length === 1);
  failOnce('DELETE');
  await store.remove(['key']);
  failOnce('GET');
  demand('a read of what is not there', (await store.read('key')) === undefined);
  way.fault = () => undefined;
  demand('a removal', (await store.list('')).length === 0);
  failOnce('PUT');
  await store.create('entry', Buffer.from('mine'));
  demand('a creation', (await store.read('entry'))?.bytes.toString() === 'mine');
  demand('a second creation', !(await store.create('entry', Buffer.from('other'))));
  way.fault = () => undefined;
  await store.remove(['entry']);
}

/** Requests of a file in two parts: its beginning, the parts, its end. */
const STEPS = 4;

/** Each request of a file in parts meets the fault once; the file arrives as it was. */
export async function outlastInParts(store: ObjectStore, way: FaultyWay, fault: Fault, folder: string): Promise<void> {
  const path = join(folder, 'large');
  const bytes = randomBytes(17 * 1024 * 1024);
  await writeFile(path, bytes);
  for (let step = 1; step <= STEPS; step++) {
    failNth(way, fault, ({ key }) => key.endsWith('large'), step);
    await store.upload('large', path, bytes.length);
    way.fault = () => undefined;
    await store.download('large', join(folder, 'back'), bytes.length);
    demand(`a file of which request ${step} failed`, (await readFile(join(folder, 'back'))).equals(bytes));
    await store.remove(['large']);
  }
}

function failNth(way: FaultyWay, fault: Fault, isMeant: (asked: Asked) => boolean, nth: number): void {
  let count = 0;
  way.fault = (asked) => (isMeant(asked) && ++count === nth ? fault : undefined);
}

/** `expect` of scenarios that also run without a test runner. */
export function demand(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`${what}: not as expected`);
}
