import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type IdleRun,
  listBrokenExports,
  listIdleRuns,
  listReadHistories,
  type Memory,
  openMemory,
  readMemory,
} from '../../src/journal/memory.js';
import { makeFolder } from './folder.js';

const ROW: IdleRun = {
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
  file = path.join(lake.root, '_pricelake', 'memory.ndjson');
  await mkdir(path.dirname(file));
});

type Entry = Parameters<Memory['append']>[number];

/** Entries of a run. */
async function remember(...entries: Entry[]): Promise<void> {
  const memory = await openMemory(lake);
  await memory.append(...entries);
  await memory.close();
}

const idle = (run_id: string, run_number = ROW.run_number): Entry => ({
  type: 'idle',
  row: { ...ROW, run_id, run_number },
});
const listRuns = async () => listIdleRuns(await readMemory(lake)).map(({ run_id }) => run_id);
const broken = (name: string, at = '2026-11-20T12:00:00.000Z'): Entry => {
  return { type: 'broken', name, runs: 2, rows: 9_007_199_254_740_993n, at, reason: 'cut' };
};

describe('rows of runs that found nothing', () => {
  test('wait, int64 exact, in order, until the table has them', async () => {
    expect(await listRuns()).toEqual([]);
    await remember({ type: 'idle', row: ROW });
    await remember(idle('next', 9007199254740994n));
    expect(listIdleRuns(await readMemory(lake))).toEqual([
      ROW,
      { ...ROW, run_id: 'next', run_number: 9007199254740994n },
    ]);
    expect(listIdleRuns(await readMemory(lake), ROW.run_number).map(({ run_id }) => run_id)).toEqual(['next']);
    await remember({ type: 'published', runNumber: ROW.run_number });
    expect(await listRuns()).toEqual(['next']);
  });

  test('lose a line that was cut short, and the next one stands whole', async () => {
    await remember(idle('run'), idle('cut'));
    await truncate(file, (await readFile(file)).length - 10);
    expect(await listRuns()).toEqual(['run']);
    await remember(idle('next'));
    expect(await listRuns()).toEqual(['run', 'next']);
  });

  test('of which nothing but a torn first line is left start over', async () => {
    await appendFile(file, '{"type":"id');
    await remember(idle('run'));
    expect(await listRuns()).toEqual(['run']);
  });
});

test('what runs remember of histories, the plan, exports and checks is there for the next', async () => {
  await remember({ type: 'histories', items: '7,8' }, { type: 'plan', seenAt: '2026-11-20T12:00:00.000Z', text: '{}' });
  await remember({ type: 'histories', items: '9' }, broken('a'), broken('b', '2026-11-21T12:00:00.000Z'));
  await remember({ type: 'counts', text: 'c' }, { type: 'whole', name: 'a' }, { type: 'whole', name: 'never' });
  const memory = await readMemory(lake);
  expect(listReadHistories(memory)).toEqual(new Set([7n, 8n, 9n]));
  expect(memory.plan).toEqual({ seenAt: new Date('2026-11-20T12:00:00.000Z'), text: '{}' });
  expect(listBrokenExports(memory)).toMatchObject([{ name: 'b', rows: 9_007_199_254_740_993n }]);
  expect(memory.counts).toBe('c');
});

test('of exports that broke off the last 500 are remembered, the newest first', async () => {
  const times = Array.from({ length: 520 }, (_, n) => new Date(n * 1000).toISOString());
  await remember(...times.map((at, n) => broken(`site-${n}`, at)));
  const names = listBrokenExports(await readMemory(lake)).map(({ name }) => name);
  expect([names.length, names[0], names.at(-1)]).toEqual([500, 'site-519', 'site-20']);
});

test('an idle run adds lines; what counts no longer is taken out only once it is most of the file', async () => {
  const plan = (n: number): Entry => ({ type: 'plan', seenAt: '2026-11-20T12:00:00.000Z', text: `${n}` });
  for (let n = 0; n < 3; n++) await remember(plan(n), idle(`run-${n}`));
  const before = await readFile(file, 'utf8');
  await remember(plan(3), idle('run-3'));
  expect((await readFile(file, 'utf8')).startsWith(before)).toBe(true);
  await remember(...Array.from({ length: 250 }, (_, n) => plan(n)), { type: 'histories', items: '1' }, broken('a'));
  await remember({ type: 'counts', text: 'c' });
  const memory = await readMemory(lake);
  expect(memory).toMatchObject({ lines: 8, superseded: 0, plan: { text: '249' }, counts: 'c' });
  expect(await listRuns()).toEqual(['run-0', 'run-1', 'run-2', 'run-3']);
  expect([listReadHistories(memory), listBrokenExports(memory)]).toMatchObject([new Set([1n]), [{ name: 'a' }]]);
});

test('a line may be taken out by hand: an export is tried again at once', async () => {
  await remember(broken('a'), idle('run'));
  const lines = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, lines.filter((line) => !line.startsWith('{"type":"broken"')).join('\n'));
  expect(listBrokenExports(await readMemory(lake))).toEqual([]);
  expect(await listRuns()).toEqual(['run']);
});
