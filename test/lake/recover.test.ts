import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import { recoverLake } from '../../src/lake/recover.js';
import { settleRebuild } from '../../src/lake/swap-lake.js';
import { type Lake, privatePath, tablePath } from '../../src/tables/layout.js';
import { add, CREATED, makeBareLake, writeEntry } from './log-writer.js';

async function put(file: string, ageS = 0): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'x');
  const at = Date.now() / 1000 - ageS;
  await utimes(file, at, at);
}

/** Recovers a lake as the beginning of a run does, and returns the logged events. */
async function recover(lake: Lake): Promise<unknown[]> {
  const events: unknown[] = [];
  await settleRebuild(lake);
  await recoverLake(lake, { ...realIo, log: (...event: unknown[]) => events.push(event) });
  return events;
}

test('recovery removes the leftovers of a crash and logs them, and a second recovery finds nothing', async () => {
  const lake = await makeBareLake();
  await writeEntry(lake, 0n, [...CREATED, add('a.parquet'), add('site%3D1/b.parquet')]);
  for (const name of ['a.parquet', 'site=1/b.parquet', 'c.parquet', 'site=1/d.parquet', 'site=2/e.parquet']) {
    await put(tablePath(lake, 'items', name));
  }
  for (const name of ['notes.txt', '_hidden.parquet', '.x.parquet', '_folder/f.parquet']) {
    await put(tablePath(lake, 'items', name));
  }
  await put(tablePath(lake, 'history', 'g.parquet'));
  for (const name of ['staging/r/items/h', 'tmp/i', 'tmp/folder/j', 'rebuild/items/k', 'landing/l', 'work/m']) {
    await put(privatePath(lake, name));
  }
  expect(await recover(lake)).toEqual([
    ['info', 'lake.recovered', { table: 'history', files: 1 }],
    ['info', 'lake.recovered', { table: 'items', files: 3 }],
  ]);
  const left = (await readdir(lake.root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(lake.root.length + 1)}/${entry.name}`);
  expect(left.sort()).toEqual([
    '_pricelake/landing/l',
    'items/.x.parquet',
    'items/_delta_log/00000000000000000000.json',
    'items/_folder/f.parquet',
    'items/_hidden.parquet',
    'items/a.parquet',
    'items/notes.txt',
    'items/site=1/b.parquet',
  ]);
  expect((await readdir(privatePath(lake))).sort()).toEqual(['landing', 'staging', 'tmp', 'work']);
  expect((await readdir(tablePath(lake, 'items'))).sort()).not.toContain('site=2');
  expect(await recover(lake)).toEqual([]);
});

test('leftovers of contenders for the lock are removed once their processes are surely dead', async () => {
  const lake = await makeBareLake();
  const ages = { 'lock.new.old': 70, 'lock.new.young': 50, lock: 70, 'lock.after.x': 70, 'notes.lock.new.': 70 };
  for (const [name, age] of Object.entries(ages)) await put(privatePath(lake, name), age);
  await recover(lake);
  const names = (await readdir(privatePath(lake))).filter((name) => name.includes('lock'));
  expect(names.sort()).toEqual(['lock', 'lock.after.x', 'lock.new.young', 'notes.lock.new.']);
});

test('recovery deletes nothing of any table if one has fallen behind lake.json', async () => {
  const lake = await makeBareLake();
  const orphan = tablePath(lake, 'history', 'orphan.parquet');
  await put(orphan);
  await put(privatePath(lake, 'staging', 'r', 'x'));
  const facts = { format: 'pricelake', version: 1, pipeline: 'p', runId: 'r', runNumber: 1, cursor: null };
  const tables = { items: { version: 0, rows: 0, files: [] } };
  await writeFile(`${lake.root}/lake.json`, JSON.stringify({ ...facts, at: '2026-11-20T10:00:00Z', tables }));
  await expect(recover(lake)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${tablePath(lake, 'items')}: its log ends at version -1, but lake.json lists version 0`,
    facts: { hint: '`pricelake lake rebuild` rebuilds the tables from the saved raw data.' },
  });
  expect(await readFile(orphan, 'utf8')).toBe('x');
  expect(await readdir(privatePath(lake, 'staging'))).toEqual(['r']);
});
