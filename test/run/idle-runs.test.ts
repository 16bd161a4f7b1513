import { appendFile, mkdir, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { addIdleRun, clearIdleRuns, readIdleRuns } from '../../src/run/idle-runs.js';
import type { RunRow } from '../../src/run/ledger.js';
import { makeFolder } from '../landing/folder.js';

const ROW: RunRow = {
  run_number: 9007199254740993n,
  run_id: 'run',
  pipeline: 'prices',
  mode: 'feed',
  reason: 'the feed continues from the cursor',
  started_at: '2026-11-20T06:00:00.000Z',
  finished_at: '2026-11-20T06:00:01.500Z',
  seconds: 1.5,
  tries: 1n,
  cursor_from: null,
  cursor_to: 9223372036854775807n,
  caught_up: true,
  stale_items: 0n,
  caught_up_at: '2026-11-20T06:00:01.000Z',
  listing_unknown: 0n,
  feed_skew_us: null,
  calls: 2n,
  export_rows: 0n,
  export_rows_landed: 0n,
  calls_refused: 0n,
  export_rows_lost: 0n,
  overage: false,
  overage_blocks: 0n,
  usage_calls: null,
  usage_export_rows: null,
  bytes_received: 0n,
  received: 0n,
  written: 0n,
  rejected: 0n,
  deduplicated: 0n,
  differences: 0n,
  difference_columns: '{}',
  missed: 0n,
  gone: 0n,
  sampled: 3n,
  sample_mismatches: 1n,
  mismatch_bound: 0.9,
  sample_differences: '[]',
  products_compared: 200n,
  products_different: 1n,
  product_differences: '[]',
  facets_compared: 0n,
  facets_different: 0n,
  facet_differences: '[]',
  schema_drift: '[]',
  items: 500n,
  pricelake_version: '0.1.0',
  duckdb_version: 'v1.5.6',
};

let lake: { root: string };
let file: string;
beforeEach(async () => {
  lake = { root: await makeFolder() };
  file = path.join(lake.root, '_pricelake', 'idle-runs.ndjson');
  await mkdir(path.dirname(file));
});

describe('the ledger of runs that found nothing', () => {
  test('waits, int64 exact, in order, until it is cleared', async () => {
    expect(await readIdleRuns(lake)).toEqual([]);
    await addIdleRun(lake, ROW);
    await addIdleRun(lake, { ...ROW, run_number: 9007199254740994n });
    expect(await readIdleRuns(lake)).toEqual([ROW, { ...ROW, run_number: 9007199254740994n }]);
    await clearIdleRuns(lake);
    await clearIdleRuns(lake);
    expect(await readIdleRuns(lake)).toEqual([]);
  });

  test('loses a line that was cut short, and the next one stands whole', async () => {
    await addIdleRun(lake, ROW);
    await addIdleRun(lake, { ...ROW, run_id: 'cut' });
    await truncate(file, (await readFile(file)).length - 10);
    expect(await readIdleRuns(lake)).toEqual([ROW]);
    await addIdleRun(lake, { ...ROW, run_id: 'next' });
    expect((await readIdleRuns(lake)).map((row) => row.run_id)).toEqual(['run', 'next']);
  });

  test('of which nothing but a torn first line is left start over', async () => {
    await appendFile(file, '{"run_nu');
    await addIdleRun(lake, ROW);
    expect(await readIdleRuns(lake)).toEqual([ROW]);
  });
});
