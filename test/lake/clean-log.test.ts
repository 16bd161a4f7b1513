import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanLog } from '../../src/lake/checkpoint.js';
import { commitTable } from '../../src/lake/commit.js';
import { readTable } from '../../src/lake/read.js';
import { tablePath } from '../../src/tables/layout.js';
import { AT, ITEM, makeLake, openDatabase, select, write } from './fixture.js';

test.each([
  { what: 'nothing is superseded for long', retentionMs: 0, kept: 101 },
  { what: 'superseded files stay a day', retentionMs: 86_400_000, kept: 131 },
])(
  'however often a table is written, its log has about a hundred entries where $what',
  async ({ retentionMs, kept }) => {
    const lake = await makeLake();
    const log = tablePath(lake, 'datasets', '_delta_log');
    for (let version = 0n; version <= 130n; version += 1n) {
      const at = new Date(AT.getTime() + Number(version) * 60_000);
      const change = { table: 'datasets' as const, add: [], remove: [], applied: { run: version } };
      await commitTable(lake, change, { runId: 'r', operation: 'TEST', at, retentionMs });
    }
    const entries = (await readdir(log)).filter((name) => /^\d+\.json$/u.test(name));
    expect(entries).toHaveLength(kept);
    expect((await readTable(lake, 'datasets')).version).toBe(130n);
  },
);

test('log entries before a checkpoint of 30 days ago go, younger ones stay, and the table reads on', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const log = tablePath(lake, 'items', '_delta_log');
  await write(db, lake, { select: select('items', ITEM, 'range(9) AS r(i)') });
  for (let version = 1n; version <= 40n; version += 1n) {
    const at = new Date(AT.getTime() + Number(version) * 86_400_000);
    const change = { table: 'items' as const, add: [], remove: [], applied: { run: version } };
    await commitTable(lake, change, { runId: 'r', operation: 'TEST', at });
  }
  const versions = (await readdir(log))
    .filter((name) => /^\d/.test(name))
    .map((name) => [Number(name.slice(0, 20)), name.slice(21)]);
  const entries = versions.filter(([, suffix]) => suffix === 'json').map(([version]) => version);
  const checkpoints = versions.filter(([, suffix]) => suffix === 'checkpoint.parquet').map(([version]) => version);
  expect(entries.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 31 }, (_, i) => 10 + i));
  expect(checkpoints.sort()).toEqual([10, 20, 30, 40]);
  const state = await readTable(lake, 'items');
  expect([state.version, state.applied.run, state.files.length]).toEqual([40n, 40n, 3]);
});

const DAY = 86_400_000;

/** A log of entries and checkpoints, each committed so many days ago; checkpoints named alone have no entry. */
async function cleanWritten(committed: Record<number, number | undefined>, checkpoints: number[], retentionMs = 0) {
  const lake = await makeLake();
  const folder = tablePath(lake, 'items', '_delta_log');
  await mkdir(folder, { recursive: true });
  const path = (version: number, suffix: string) => join(folder, `${String(version).padStart(20, '0')}.${suffix}`);
  for (const [version, days] of Object.entries(committed)) {
    const timestamp = days === undefined ? undefined : AT.getTime() - days * DAY;
    const lines = [{ protocol: {} }, { commitInfo: { timestamp } }].map((line) => JSON.stringify(line));
    await writeFile(path(Number(version), 'json'), lines.join('\n'));
  }
  for (const version of checkpoints) await writeFile(path(version, 'checkpoint.parquet'), '');
  await writeFile(join(folder, '_last_checkpoint'), '');
  await cleanLog(lake, 'items', AT, retentionMs);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).sort();
  expect(await readdir(folder)).toContain('_last_checkpoint');
  return names.map((name) => `${Number(name.slice(0, 20))}${name.endsWith('.parquet') ? ' checkpoint' : ''}`);
}

test('a log is cut at the newest checkpoint that is 30 days old, and not a millisecond younger', async () => {
  const ages = { 9: 40, 10: 35, 19: 31, 20: 30, 21: 2, 30: 1 };
  expect(await cleanWritten(ages, [10, 20, 30])).toEqual(['20 checkpoint', '20', '21', '30 checkpoint', '30']);
  const younger = { ...ages, 20: 30 - 1 / DAY };
  expect(await cleanWritten(younger, [10, 20, 30])).toHaveLength(8);
});

test('a log is cut at a checkpoint a hundred versions behind, when what it superseded is as old as files get', async () => {
  const ages = { 9: 3, 10: 3, 20: 1, 110: 0 };
  const kept = ['10 checkpoint', '10', '20 checkpoint', '20', '110'];
  expect(await cleanWritten(ages, [10, 20], 3 * DAY)).toEqual(kept);
  expect(await cleanWritten(ages, [10, 20], 3 * DAY + 1)).toHaveLength(6);
  expect(await cleanWritten({ 9: 3, 10: 3, 20: 1, 109: 0 }, [10, 20])).toHaveLength(6);
});

test('a checkpoint whose entry is gone, or does not say when it was committed, cuts nothing', async () => {
  expect(await cleanWritten({ 9: 50, 30: 0 }, [10])).toEqual(['9', '10 checkpoint', '30']);
  expect(await cleanWritten({ 9: 50, 10: undefined, 30: 0 }, [10])).toHaveLength(4);
  expect(await cleanWritten({ 9: 50, 10: 40 }, [])).toHaveLength(2);
});
