import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { Lake } from '../../src/lake/lake.js';
import { tablePath } from '../../src/lake/layout.js';
import type { LogState } from '../../src/lake/log-state.js';
import { findExpiredFiles, listDataFiles } from '../../src/lake/vacuum.js';
import { AT } from './fixture.js';
import { makeBareLake } from './log-writer.js';

const HOUR = 3_600_000;

async function fill(lake: Lake, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const file = tablePath(lake, 'items', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'x');
  }
}

test('data files are all Parquet files but those of logs and private folders', async () => {
  const lake = await makeBareLake();
  expect(await listDataFiles(tablePath(lake, 'items'))).toEqual([]);
  await fill(lake, 'a.parquet', 'site_id=1/b.parquet', 'site_id=1/_b.parquet', 'a.txt', 'parquet');
  await fill(lake, '_delta_log/1.checkpoint.parquet', '.tmp/c.parquet', '_c.parquet');
  await mkdir(tablePath(lake, 'items', 'folder.parquet'));
  expect((await listDataFiles(tablePath(lake, 'items'))).sort()).toEqual([
    'a.parquet',
    'site_id=1/_b.parquet',
    'site_id=1/b.parquet',
  ]);
});

test('a file expires when no version names it, or when it was superseded as long ago as the table keeps files', async () => {
  const lake = await makeBareLake();
  await fill(lake, 'live.parquet', 'unknown.parquet', 'young.parquet', 'due.parquet', 'old.parquet');
  const state = (retentionHours: string) =>
    ({
      table: 'items',
      metaData: { configuration: { 'pricelake.retentionHours': retentionHours } },
      files: new Map([['live.parquet', {}]]),
      tombstones: new Map([
        ['young.parquet', AT.getTime() - 2 * HOUR + 1],
        ['due.parquet', AT.getTime() - 2 * HOUR],
        ['old.parquet', AT.getTime() - 3 * HOUR],
      ]),
    }) as unknown as LogState;
  const find = async (hours: string) => (await findExpiredFiles(lake, state(hours), AT)).sort();
  expect(await find('2')).toEqual(['due.parquet', 'old.parquet', 'unknown.parquet']);
  expect(await find('0')).toEqual(['due.parquet', 'old.parquet', 'unknown.parquet', 'young.parquet']);
});
