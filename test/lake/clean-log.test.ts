import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { tablePath } from '../../src/lake/layout.js';
import { readTable } from '../../src/lake/read.js';
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
