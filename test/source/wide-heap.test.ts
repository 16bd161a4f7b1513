import v8 from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { withWideHeap } from '../../src/source/wide-heap.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test('the heap grows in larger steps from the first work to the end of the last, even if work fails', async () => {
  const setFlags = vi.spyOn(v8, 'setFlagsFromString');
  const flags = () => setFlags.mock.calls.map(([flag]) => flag);
  const { promise, end } = openEnd();
  const first = withWideHeap(() => promise);
  await expect(withWideHeap(() => Promise.reject(new Error('broke off')))).rejects.toThrow('broke off');
  expect(flags()).toEqual(['--heap-growing-percent=400']);
  end('done');
  expect(await first).toBe('done');
  expect(flags()).toEqual(['--heap-growing-percent=400', '--heap-growing-percent=0']);
});

function openEnd() {
  let end: (value: string) => void = () => {};
  const promise = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}
