import { createHash } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCheckpoint } from '../../src/lake/checkpoint.js';
import { findDamagedFile } from '../../src/lake/damaged-file.js';
import { inspectLake } from '../../src/lake/inspect-lake.js';
import { publishPointer } from '../../src/lake/publish.js';
import type { Lake } from '../../src/tables/layout.js';
import { AT, makeFolder } from './fixture.js';
import { add, CREATED, makeBareLake, remove, writeEntry } from './log-writer.js';

const RUN = { pipeline: 'p', runId: 'r', runNumber: 1n, cursor: 1n, at: AT, attributions: [] };

async function makePublished(): Promise<Lake> {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a.parquet'), add('b.parquet')]);
  await publishPointer(lake, RUN);
  return lake;
}

test('a damaged lake.json is reported, and the tables are still read', async () => {
  const lake = await makePublished();
  await writeFile(join(lake.root, 'lake.json'), '{');
  const { pointer, states, damaged, pointerDamage } = await inspectLake(lake);
  expect([pointer, damaged.size, pointerDamage]).toEqual([
    undefined,
    0,
    `${join(lake.root, 'lake.json')}: the file is damaged or has another format`,
  ]);
  expect(states.get('items')?.version).toBe(0n);
});

test('an unreadable log has no state; a log that fell behind or was changed by another program has one', async () => {
  const broken = await makePublished();
  await appendFile(await writeEntry(broken, 1n, []), '{');
  const one = await inspectLake(broken);
  expect([one.states.has('items'), one.damaged.get('items')]).toEqual([false, expect.stringContaining('items')]);
  expect(one.damaged.size).toBe(1);

  const changed = await makePublished();
  await writeEntry(changed, 1n, [remove('a.parquet', 5)], { engineInfo: 'other 1', operation: 'DELETE' });
  const two = await inspectLake(changed);
  expect([two.states.get('items')?.files.length, two.damaged.get('items')]).toEqual([
    1,
    expect.stringMatching(/items: version 1 \(DELETE by other 1\) changed rows/),
  ]);

  const behind = await makePublished();
  await writeEntry(behind, 0n, [...CREATED, add('a.parquet')]);
  const three = await inspectLake(behind);
  expect(three.damaged.get('items')).toContain('version 0 of its log has 1 files, but lake.json lists 2');
  expect(three.states.has('items')).toBe(true);
});

test("an unreadable entry is reported even if another program's checkpoint hides it", async () => {
  const lake = await makePublished();
  const entry = await writeEntry(lake, 1n, [add('c.parquet')], { engineInfo: 'other 1', operation: 'WRITE' });
  await writeCheckpoint(lake, 'items', AT);
  await appendFile(entry, '{');
  const { states, damaged } = await inspectLake({ ...lake });
  expect([states.get('items')?.version, damaged.get('items')]).toEqual([1n, `${entry}: line 3 is damaged`]);
});

test('a damaged entry before our own checkpoint is reported, so that a rebuild starts a new log', async () => {
  const lake = await makePublished();
  const first = join(lake.root, 'items', '_delta_log', `${'0'.padStart(20, '0')}.json`);
  await writeCheckpoint(lake, 'items', AT);
  await appendFile(first, '{');
  const { states, damaged } = await inspectLake({ ...lake });
  expect([states.has('items'), damaged.get('items')]).toEqual([true, expect.stringContaining('is damaged')]);
});

test('a file is damaged if it is missing or has another size or checksum', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'a'), 'abc');
  const sha256 = createHash('sha256').update('abc').digest('hex');
  const find = (...files: { path: string; bytes: number; sha256?: string }[]) =>
    findDamagedFile(files, (path) => join(folder, path));
  const whole = { path: 'a', bytes: 3, sha256 };
  expect(await find()).toBeUndefined();
  expect(await find(whole, { path: 'a', bytes: 3 })).toBeUndefined();
  expect(await find(whole, { path: 'b', bytes: 3 })).toBe('b is missing');
  expect(await find(whole, { path: 'a', bytes: 4, sha256 })).toBe('a has 3 bytes, not 4');
  expect(await find(whole, { path: 'a', bytes: 3, sha256: 'x' })).toBe('a has a different checksum');
});
