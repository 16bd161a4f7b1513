import { expect, onTestFinished, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { openMemory } from '../../src/journal/memory.js';
import { findBrokenCopy, openExportMemory } from '../../src/plan/broken-exports.js';
import type { Lake } from '../../src/tables/layout.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeLake } from '../lake/fixture.js';

/** The memory as the next process finds it. */
async function open(lake: Lake, io: Io) {
  const memory = await openMemory(lake);
  onTestFinished(() => memory.close());
  return openExportMemory(memory, io);
}

test('what broke off is remembered by the next process, run by run, until it comes whole', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const first = await open(lake, io);
  await Promise.all([
    first.note('site-1', { rows: 30n, reason: 'cut' }),
    first.note('site-2', { rows: 9_007_199_254_740_993n, reason: 'x'.repeat(5_000) }),
  ]);
  io.pass(60_000);
  const second = await open(lake, io);
  await second.note('site-1', { rows: 10n, reason: 'cut again' });
  expect(second.list()).toEqual([
    { name: 'site-1', runs: 2, rows: 40n, at: io.now(), reason: 'cut again' },
    expect.objectContaining({ name: 'site-2', runs: 1, rows: 9_007_199_254_740_993n, reason: 'x'.repeat(300) }),
  ]);
  await second.forget('site-1');
  await second.forget('never-heard-of');
  expect((await open(lake, io)).list()).toMatchObject([{ name: 'site-2' }]);
});

test('a copy waits for its own exports alone', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const memory = await open(lake, io);
  for (const name of ['site-1', 'site-1', 'changed-items', 'changed-items', 'site-3']) {
    await memory.note(name, { rows: 1n, reason: '' });
  }
  expect(findBrokenCopy(memory.list(), io.now())).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-1'])).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-2', 'site-3'])).toBeUndefined();
  io.pass(3_600_000);
  expect(findBrokenCopy(memory.list(), io.now())).toBeUndefined();
});
