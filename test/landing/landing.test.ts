import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { realIo } from '../../src/io/io.js';
import { beginRun, dropRun, findUnfinishedRun, pruneLandings, type RunStart } from '../../src/landing/landing.js';
import { makeFolder } from './folder.js';

const NOW = new Date('2026-11-20T06:00:00.123Z');
const DAY_MS = 24 * 3600 * 1000;
const at = (ms: number) => ({ ...realIo, now: () => new Date(NOW.getTime() + ms) });
const start = (runNumber: bigint): RunStart => ({ runNumber, pipeline: 'prices', cursorFrom: 42n });

let lake: string;
beforeEach(async () => {
  lake = await makeFolder();
});

const listRuns = () => readdir(path.join(lake, '_pricelake', 'landing'));

/** Begins a run and, `hours` later, ends it. */
async function endRun(runNumber: bigint, hours: number): Promise<string> {
  const landing = await beginRun(lake, start(runNumber), at(0));
  await landing.journal.append({
    type: 'end',
    at: at(hours * 3600 * 1000)
      .now()
      .toISOString(),
  });
  await landing.journal.close();
  return landing.runId;
}

async function leaveRun(runNumber: bigint): Promise<string> {
  const landing = await beginRun(lake, start(runNumber), at(0));
  await landing.journal.close();
  return landing.runId;
}

async function findRun(): Promise<string | undefined> {
  const found = await findUnfinishedRun(lake);
  await found?.journal.close();
  return found?.runId;
}

describe('a run', () => {
  test('is named by its number and time, so that a listing shows them in order', async () => {
    const landing = await beginRun(lake, start(7n), at(0));
    await landing.journal.close();
    expect(landing).toMatchObject({ runId: '000007-20261120T060000Z', runNumber: 7n });
    expect(path.basename(landing.folder)).toBe(landing.runId);
  });

  test('that was begun and not ended is found, with what its journal says', async () => {
    await endRun(1n, 1);
    await leaveRun(2n);
    const found = await findUnfinishedRun(lake);
    expect(found).toMatchObject({ runNumber: 2n });
    expect(found?.journal.last('begin')).toMatchObject({ pipeline: 'prices', cursorFrom: 42n });
    await found?.journal.close();
  });

  test('is not found where there is none, or where the last one ended', async () => {
    expect(await findRun()).toBeUndefined();
    await leaveRun(1n);
    await endRun(2n, 1);
    expect(await findRun()).toBeUndefined();
  });

  test('of which a crash left nothing but its folder is removed', async () => {
    const unfinished = await leaveRun(1n);
    await mkdir(path.join(lake, '_pricelake', 'landing', '000002-20261120T060000Z'));
    expect(await findRun()).toBe(unfinished);
    expect(await listRuns()).toEqual([unfinished]);
  });

  test('comes after those with fewer digits in their number', async () => {
    await endRun(999_999n, 1);
    const unfinished = await leaveRun(1_000_000n);
    expect(await findRun()).toBe(unfinished);
  });

  test('that is dropped leaves nothing', async () => {
    await dropRun(await beginRun(lake, start(1n), at(0)));
    expect(await listRuns()).toEqual([]);
  });

  test('with a damaged journal is refused and does not start over', async () => {
    const runId = await leaveRun(1n);
    await writeFile(path.join(lake, '_pricelake', 'landing', runId, 'journal.ndjson'), 'oops\n');
    await expect(findRun()).rejects.toMatchObject({ code: 'lake_invalid' });
  });
});

describe('raw bytes', () => {
  test('of ended runs are kept as long as told; those of unfinished ones stay', async () => {
    await endRun(1n, 0);
    const later = await endRun(2n, 36);
    const unfinished = await leaveRun(3n);
    await pruneLandings(lake, DAY_MS, at(DAY_MS + 1));
    expect((await listRuns()).sort()).toEqual([later, unfinished]);
    await pruneLandings(lake, 0, at(100 * DAY_MS));
    expect(await listRuns()).toEqual([unfinished]);
  });

  test('are never looked for where no run has been, nor taken for what someone put beside them', async () => {
    await pruneLandings(lake, 0, at(0));
    await mkdir(path.join(lake, '_pricelake', 'landing', 'notes'), { recursive: true });
    await pruneLandings(lake, 0, at(0));
    expect(await findRun()).toBeUndefined();
    expect(await listRuns()).toEqual(['notes']);
  });
});
