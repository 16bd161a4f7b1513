import { expect, test } from 'vitest';
import { BodyQueue } from '../../src/api/body-queue.js';

const MIB = 1024 * 1024;

function open() {
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const queue = new BodyQueue({ pause: note('pause'), resume: note('resume'), close: note('close') });
  return { queue, done, reader: queue[Symbol.asyncIterator]() };
}

test('the reader gets the bytes received before a fault first, and a fault after the end is ignored', async () => {
  const { queue, done, reader } = open();
  queue.push(Buffer.from('a'));
  queue.fail(new Error('broke'));
  queue.fail(new Error('another'));
  expect(String((await reader.next()).value)).toBe('a');
  await expect(reader.next()).rejects.toThrow('broke');
  // The connection no longer exists, so there is nothing to close.
  expect(done).toEqual([]);
  const ended = open();
  ended.queue.end();
  ended.queue.fail(new Error('late'));
  expect((await ended.reader.next()).done).toBe(true);
});

test('a discarded body keeps only the bytes that had already arrived and closes the connection', async () => {
  const other = open();
  other.queue.push(Buffer.alloc(MIB - 1));
  other.queue.discard();
  other.queue.push(Buffer.alloc(1));
  expect(other.done).toEqual(['close']);
  other.queue.end();
  expect((await other.reader.next()).value).toHaveLength(1);
  expect((await other.reader.next()).done).toBe(true);
});
