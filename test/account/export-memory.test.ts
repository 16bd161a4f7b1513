import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { listBrokenExports, openExportMemory } from '../../src/account/export-memory.js';
import { findBrokenCopy } from '../../src/plan/broken-exports.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeLake } from '../lake/fixture.js';

const fileOf = (root: string) => path.join(root, '_pricelake', 'broken-exports.json');

test('what broke off is remembered by the next process, run by run, until it comes whole', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const first = await openExportMemory(lake, io);
  await Promise.all([
    first.note('site-1', { rows: 30n, reason: 'cut' }),
    first.note('site-2', { rows: 9_007_199_254_740_993n, reason: 'x'.repeat(5_000) }),
  ]);
  io.pass(60_000);
  const second = await openExportMemory(lake, io);
  await second.note('site-1', { rows: 10n, reason: 'cut again' });
  expect(second.find('site-1')).toEqual({ name: 'site-1', runs: 2, rows: 40n, at: io.now(), reason: 'cut again' });
  expect(second.find('site-2')).toMatchObject({ runs: 1, rows: 9_007_199_254_740_993n });
  expect(second.find('site-2')?.reason).toHaveLength(300);
  expect(await listBrokenExports(lake)).toEqual(second.list());
  await second.forget('site-1');
  await second.forget('never-heard-of');
  expect((await openExportMemory(lake, io)).list()).toMatchObject([{ name: 'site-2' }]);
});

test('a copy waits for its own exports alone', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const memory = await openExportMemory(lake, io);
  for (const name of ['site-1', 'site-1', 'changed-items', 'changed-items', 'site-3']) {
    await memory.note(name, { rows: 1n, reason: '' });
  }
  expect(findBrokenCopy(memory.list(), io.now())).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-1'])).toMatchObject({ name: 'site-1' });
  expect(findBrokenCopy(memory.list(), io.now(), ['site-2', 'site-3'])).toBeUndefined();
  io.pass(3_600_000);
  expect(findBrokenCopy(memory.list(), io.now())).toBeUndefined();
});

test('a memory that is damaged or of another version is none, and is rewritten', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  for (const text of [
    '[{"name":',
    '{}',
    '[{"name":"all","runs":1,"rows":"1","at":"2026-11-20T12:00:00Z","more":1}]',
    '',
  ]) {
    await writeFile(fileOf(lake.root), text);
    const memory = await openExportMemory(lake, io);
    expect(memory.list()).toEqual([]);
    await memory.note('all', { rows: 1n, reason: 'cut' });
    expect(await listBrokenExports(lake)).toHaveLength(1);
  }
});

test('it never grows beyond 500 exports: the oldest go', async () => {
  const [lake, io] = [await makeLake(), createFakeIo()];
  const many = Array.from({ length: 520 }, (_, n) => ({
    ...{ name: `site-${n}`, runs: 1, rows: '1', reason: '' },
    at: new Date(io.now().getTime() - n * 1000).toISOString(),
  }));
  await writeFile(fileOf(lake.root), JSON.stringify(many));
  await (await openExportMemory(lake, io)).note('all', { rows: 1n, reason: 'cut' });
  const names = (JSON.parse(await readFile(fileOf(lake.root), 'utf8')) as { name: string }[]).map(({ name }) => name);
  expect(names).toHaveLength(500);
  expect([names.includes('all'), names.includes('site-498'), names.includes('site-499')]).toEqual([true, true, false]);
});
