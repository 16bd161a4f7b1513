import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import {
  type IdleRun,
  listBrokenExports,
  listBrought,
  listIdleRuns,
  type Memory,
  openMemory,
  readMemory,
} from '../../src/journal/memory.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { makeFolder } from './folder.js';

const VALUES: Record<string, unknown> = {
  ...{ BIGINT: 9007199254740993n, DOUBLE: 1.5, BOOLEAN: true, VARCHAR: '{}' },
  'TIMESTAMP WITH TIME ZONE': '2026-11-20T06:00:00.000Z',
};
const columns = loadTableSchema('runs').columns.map(({ name, type }) => [name, VALUES[type]]);
/** A row with a value in every column except a few. */
const ROW = {
  ...Object.fromEntries(columns),
  ...{ run_id: 'run', mode: 'feed', cursor_from: null, usage_calls: null, mismatch_bound: null },
} as IdleRun;

let lake: { root: string };
let file: string;
beforeEach(async () => {
  lake = { root: await makeFolder() };
  file = path.join(lake.root, '_pricelake', 'memory.ndjson');
  await mkdir(path.dirname(file));
});

type Entry = Parameters<Memory['append']>[number];

/** Appends entries as a run does. */
async function remember(...entries: Entry[]): Promise<void> {
  const memory = await openMemory(lake, realIo);
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

describe('ledger rows of runs that found no change', () => {
  test('are saved in order, with exact int64 values, until the table contains them', async () => {
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

  test('lose a line that was cut off, and the next line is complete', async () => {
    await remember(idle('run'), idle('cut'));
    await truncate(file, (await readFile(file)).length - 10);
    expect(await listRuns()).toEqual(['run']);
    await remember(idle('next'));
    expect(await listRuns()).toEqual(['run', 'next']);
  });

  test('start over if only a torn first line is left', async () => {
    await appendFile(file, '{"type":"id');
    await remember(idle('run'));
    expect(await listRuns()).toEqual(['run']);
  });
});

test('the next run reads what earlier runs saved about histories, the plan, exports, probes and checks', async () => {
  await remember(
    { type: 'brought', source: 'histories', ids: '7,8' },
    { type: 'plan', seenAt: '2026-11-20T12:00:00.000Z', text: '{}' },
  );
  await remember(
    { type: 'brought', source: 'histories', ids: '9' },
    broken('a'),
    broken('b', '2026-11-21T12:00:00.000Z'),
  );
  await remember({ type: 'counts', text: 'c' }, { type: 'whole', name: 'a' }, { type: 'whole', name: 'never' });
  const memory = await readMemory(lake);
  expect([...listBrought(memory, 'histories')]).toEqual([7n, 8n, 9n]);
  expect(memory.plan).toEqual({ seenAt: new Date('2026-11-20T12:00:00.000Z'), text: '{}' });
  expect(listBrokenExports(memory)).toMatchObject([{ name: 'b', rows: 9_007_199_254_740_993n }]);
  expect(memory.counts).toBe('c');
  await remember({ type: 'probed', at: '2026-11-20T12:00:00.000Z' });
  expect((await readMemory(lake)).probedAt).toEqual(new Date('2026-11-20T12:00:00.000Z'));
});

test('only the last 500 interrupted exports are remembered, newest first', async () => {
  const times = Array.from({ length: 520 }, (_, n) => new Date(n * 1000).toISOString());
  await remember(...times.map((at, n) => broken(`site-${n}`, at)));
  const names = listBrokenExports(await readMemory(lake)).map(({ name }) => name);
  expect([names.length, names[0], names.at(-1)]).toEqual([500, 'site-519', 'site-20']);
});

test('an idle run only appends lines, and superseded lines are removed once they are most of the file', async () => {
  const plan = (n: number): Entry => ({ type: 'plan', seenAt: '2026-11-20T12:00:00.000Z', text: `${n}` });
  for (let n = 0; n < 3; n++) await remember(plan(n), idle(`run-${n}`));
  const before = await readFile(file, 'utf8');
  await remember(plan(3), idle('run-3'));
  expect((await readFile(file, 'utf8')).startsWith(before)).toBe(true);
  await remember(
    ...Array.from({ length: 250 }, (_, n) => plan(n)),
    { type: 'brought', source: 'histories', ids: '1' },
    broken('a'),
  );
  const probedAt = new Date('2026-11-20T12:00:00.000Z');
  await remember(
    { type: 'counts', text: 'c' },
    { type: 'probed', at: probedAt.toISOString() },
    { type: 'partial', at: probedAt.toISOString() },
    { type: 'pages', longest: 40 },
    { type: 'pages', longest: 70, deniedMoreAt: probedAt.toISOString() },
  );
  const memory = await readMemory(lake);
  expect(memory).toMatchObject({
    lines: 12,
    superseded: 1,
    plan: { text: '249' },
    counts: 'c',
    probedAt,
    partialAt: probedAt,
    longestPage: 70,
    deniedMoreAt: probedAt,
  });
  expect(await listRuns()).toEqual(['run-0', 'run-1', 'run-2', 'run-3']);
  expect([[...listBrought(memory, 'histories')], listBrokenExports(memory)]).toMatchObject([[1n], [{ name: 'a' }]]);
});

test('a user may remove the line of an interrupted export, which is then tried again at once', async () => {
  await remember(broken('a'), idle('run'));
  const lines = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, lines.filter((line) => !line.startsWith('{"type":"broken"')).join('\n'));
  expect(listBrokenExports(await readMemory(lake))).toEqual([]);
  expect(await listRuns()).toEqual(['run']);
});

test('a damaged line is dropped with a warning if a run can restore it; otherwise it is an error with its number', async () => {
  await remember(idle('run'), { type: 'counts', text: 'old' }, { type: 'counts', text: 'new' }, idle('next'));
  const whole = await readFile(file, 'utf8');
  await writeFile(file, whole.replace('"text":"new"', '"text":"neu"'));
  expect(await readMemory(lake)).toMatchObject({ counts: 'old', damaged: [3], lines: 4 });
  expect(await listRuns()).toEqual(['run', 'next']);
  const logged: unknown[] = [];
  const memory = await openMemory(lake, { log: (...said) => void logged.push(said) });
  await memory.close();
  expect(logged).toEqual([['warn', 'memory.damaged', { file, lines: '3' }]]);
  expect(await readMemory(lake)).toMatchObject({ counts: 'old', damaged: [], lines: 3 });
  for (const [text, altered, line] of [
    ['"run_id":"run"', '"run_id":"rug"', 1],
    ['"run_id":"next"', '"run_id":"nest"', 4],
    ['{"type":"counts","text":"new"', '"type":"counts","text":"new"', 3],
  ] as const) {
    await writeFile(file, whole.replace(text, altered));
    const message = `${file}: line ${line} has changed since it was written: its checksum differs`;
    await expect(readMemory(lake)).rejects.toMatchObject({ message });
  }
  await writeFile(file, whole.replace(/"sum":"\w/, '"sum":"!'));
  await expect(readMemory(lake)).rejects.toMatchObject({ message: `${file}: line 1 has no checksum` });
});

test('bytes that a power failure left after the last complete line are cut off with a warning', async () => {
  await remember(idle('run'));
  for (const tail of ['\0\0\0\n', '\0\0', 'junk\n{"type":"id\n', '\n']) {
    await appendFile(file, tail);
    expect(await listRuns()).toEqual(['run']);
    const logged: unknown[] = [];
    const memory = await openMemory(lake, { log: (...said) => void logged.push(said) });
    await memory.close();
    expect(logged).toEqual([['warn', 'journal.torn', { file, line: 2, bytes: tail.length }]]);
  }
});

test('the newest attempts are remembered with their step durations and faults, even after the file is rewritten', async () => {
  const made = (n: number): Entry => ({
    ...{ type: 'try', runNumber: BigInt(n), begunAt: '2026-11-20T06:00:00.000Z', endedAt: '2026-11-20T06:00:03.000Z' },
    steps: { open: 0.5, land: 2.5 },
    ...(n % 2 === 0 ? {} : { fault: { step: 'land', code: 'unavailable', message: 'no answer' } }),
  });
  await remember(...Array.from({ length: 270 }, (_, n) => made(n)));
  expect((await readMemory(lake)).superseded).toBe(220);
  await remember();
  const { tries, superseded } = await readMemory(lake);
  expect(superseded).toBe(0);
  expect(tries).toHaveLength(50);
  expect(tries.at(-1)).toEqual({ ...made(269), type: undefined });
});
