import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { realIo } from '../../src/io/real-io.js';
import { linkRun, listSoundRuns } from '../../src/journal/kept-runs.js';
import {
  beginRun,
  dropRun,
  findUnfinishedRun,
  openLanding,
  peekUnfinishedRun,
  pruneLandings,
  type RunStart,
} from '../../src/journal/landings.js';
import { readEntries } from '../../src/journal/read-entries.js';
import { RUN_FOLD } from '../../src/journal/run-state.js';
import { listOpenFiles, makeFolder } from './folder.js';
import { TO_END } from './list-fold.js';

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
  const ended = at(hours * 3600 * 1000).now();
  for (const entry of TO_END) await landing.journal.append(entry);
  await landing.journal.append({ type: 'end', at: ended.toISOString() });
  await landing.journal.close();
  return landing.runId;
}

const folderOf = (runId: string) => path.join(lake, '_pricelake', 'landing', runId);

async function damageFirstLine(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, `oops\n${text.slice(text.indexOf('\n') + 1)}`);
}

async function leaveRun(runNumber: bigint): Promise<string> {
  const landing = await beginRun(lake, start(runNumber), at(0));
  await landing.journal.close();
  return landing.runId;
}

async function findRun(published = 0n): Promise<string | undefined> {
  const found = await findUnfinishedRun(lake, published, realIo);
  await found?.journal.close();
  return found?.runId;
}

describe('a run', () => {
  test('is named by its number and time, so that names sort in order', async () => {
    const landing = await beginRun(lake, start(7n), at(0));
    await landing.journal.close();
    expect(landing).toMatchObject({ runId: '000007-20261120T060000Z', runNumber: 7n });
    expect(path.basename(landing.folder)).toBe(landing.runId);
  });

  test("that began and hasn't ended is found, with the state from its journal", async () => {
    await endRun(1n, 1);
    await leaveRun(2n);
    const found = await findUnfinishedRun(lake, 0n, realIo);
    expect(found).toMatchObject({ runNumber: 2n });
    expect(found?.journal.state).toMatchObject({ stage: 'begun', begin: { pipeline: 'prices', cursorFrom: 42n } });
    await found?.journal.close();
  });

  test("isn't found if there is none, or if the last one ended", async () => {
    expect(await findRun()).toBeUndefined();
    await leaveRun(1n);
    await endRun(2n, 1);
    expect(await findRun()).toBeUndefined();
  });

  test('is removed if a crash left only its folder', async () => {
    const unfinished = await leaveRun(1n);
    await mkdir(path.join(lake, '_pricelake', 'landing', '000002-20261120T060000Z'));
    expect(await findRun()).toBe(unfinished);
    expect(await listRuns()).toEqual([unfinished]);
  });

  test('is sorted after runs whose number has fewer digits', async () => {
    await endRun(999_999n, 1);
    const unfinished = await leaveRun(1_000_000n);
    expect(await findRun()).toBe(unfinished);
  });

  test('leaves no files when it is dropped', async () => {
    await dropRun(await beginRun(lake, start(1n), at(0)));
    expect(await listRuns()).toEqual([]);
  });

  test("with a damaged journal is refused, and doesn't start over", async () => {
    const runId = await leaveRun(1n);
    await writeFile(path.join(folderOf(runId), 'journal.ndjson'), 'oops\n');
    await writeFile(path.join(folderOf(runId), 'feed.ndjson'), '{}\n');
    await expect(findRun()).rejects.toMatchObject({ code: 'lake_invalid' });
  });
});

describe('landed bytes', () => {
  test('of ended runs are kept exactly as long as configured, and those of unfinished runs stay', async () => {
    const first = await endRun(1n, 0);
    const later = await endRun(2n, 36);
    const unfinished = await leaveRun(3n);
    const events: unknown[] = [];
    const io = (ms: number) => ({ ...at(ms), log: (...event: unknown[]) => events.push(event) });
    await pruneLandings(lake, DAY_MS, io(DAY_MS));
    expect([(await listRuns()).sort(), events]).toEqual([[first, later, unfinished], []]);
    await pruneLandings(lake, DAY_MS, io(DAY_MS + 1));
    expect((await listRuns()).sort()).toEqual([later, unfinished]);
    expect(events).toEqual([['debug', 'landing.pruned', { runId: first }]]);
    await pruneLandings(lake, 0, at(100 * DAY_MS));
    expect(await listRuns()).toEqual([unfinished]);
  });

  test('of a run that began within that time are kept without reading its journal', async () => {
    const runId = await endRun(1n, 0);
    await damageFirstLine(path.join(folderOf(runId), 'journal.ndjson'));
    const told: unknown[] = [];
    const io = (ms: number) => ({ ...at(ms), log: (_: unknown, event: string) => told.push(event) });
    await pruneLandings(lake, DAY_MS, io(DAY_MS - 1000));
    expect(told).toEqual([]);
    await pruneLandings(lake, DAY_MS, io(DAY_MS + 1));
    expect(told).toEqual(['landing.damaged']);
  });

  test('are only looked for in folders that are named like runs', async () => {
    await pruneLandings(lake, 0, at(0));
    for (const name of ['notes', 'copy-of-000001-20261120T060000Z', '00001-x'])
      await mkdir(path.join(lake, '_pricelake', 'landing', name), { recursive: true });
    await pruneLandings(lake, 0, at(0));
    expect(await findRun()).toBeUndefined();
    expect((await listRuns()).sort()).toEqual(['00001-x', 'copy-of-000001-20261120T060000Z', 'notes']);
    const other = await makeFolder();
    await writeFile(path.join(other, '_pricelake'), 'a file');
    await expect(listSoundRuns(other, 0n)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

describe('landed runs', () => {
  test('are listed in order of their numbers, without changing anything', async () => {
    expect([(await listSoundRuns(lake, 0n)).runs, await peekUnfinishedRun(lake, 0n)]).toEqual([[], undefined]);
    const ended = await endRun(999_999n, 1);
    const unfinished = await leaveRun(1_000_000n);
    const empty = folderOf('1000001-20261120T060000Z');
    await mkdir(empty);
    const { runs, open } = await listSoundRuns(lake, 0n);
    expect([...runs, open].map((run) => [run?.runId, run?.runNumber, run?.folder])).toEqual([
      [ended, 999_999n, folderOf(ended)],
      [unfinished, 1_000_000n, folderOf(unfinished)],
    ]);
    expect(await peekUnfinishedRun(lake, 0n)).toMatchObject({ runId: unfinished, runNumber: 1_000_000n });
    expect(await readdir(empty)).toEqual([]);
    await endRun(1_000_002n, 1);
    expect(await peekUnfinishedRun(lake, 0n)).toBeUndefined();
  });

  test('with the same number are listed in order of their times', async () => {
    await Promise.all(['000001-b', '000001-a', '000001-c'].map((name) => mkdir(folderOf(name), { recursive: true })));
    for (const runId of ['000001-b', '000001-a', '000001-c']) {
      const begin = { runNumber: 1n, runId, at: 'x', pipeline: 'p', cursorFrom: null };
      const { journal } = await openLanding(folderOf(runId), begin);
      await journal.append(...TO_END, { type: 'end', at: 'x' });
      await journal.close();
    }
    expect((await listSoundRuns(lake, 0n)).runs.map(({ folder }) => path.basename(folder))).toEqual([
      '000001-a',
      '000001-b',
      '000001-c',
    ]);
  });

  test('with damaged or unreadable journals are listed separately', async () => {
    const [damaged, sound] = [await endRun(1n, 0), await endRun(2n, 0)];
    const file = path.join(folderOf(damaged), 'journal.ndjson');
    await damageFirstLine(file);
    const { runs, damaged: told } = await listSoundRuns(lake, 0n);
    expect([runs.map(({ runId }) => runId), told]).toEqual([[sound], [`${file}: line 1 has no checksum`]]);
    // The landed bytes of a run that can't be judged stay.
    const events: unknown[] = [];
    const io = { ...at(100 * DAY_MS), log: (...event: unknown[]) => events.push(event) };
    await pruneLandings(lake, DAY_MS, io);
    expect(await listRuns()).toEqual([damaged]);
    expect(events).toEqual([
      ['warn', 'landing.damaged', { reason: `${file}: line 1 has no checksum` }],
      ['debug', 'landing.pruned', { runId: sound }],
    ]);
    const folder = path.join(folderOf(sound), 'journal.ndjson');
    await mkdir(folder, { recursive: true });
    expect((await listSoundRuns(lake, 0n)).damaged.at(-1)).toBe(`${folder}: it is a folder`);
    await pruneLandings(lake, 0, io);
    expect(events.at(-1)).toEqual(['warn', 'landing.damaged', { reason: `${folder}: it is a folder` }]);
  });

  test('can continue in another lake, which links their files and forgets everything after landing', async () => {
    const landing = await beginRun(lake, start(1n), at(0));
    await writeFile(path.join(landing.folder, 'feed.ndjson'), '{}');
    await landing.journal.append(
      { type: 'calls', calls: 1, refused: 0 },
      ...TO_END,
      { type: 'held', checks: [] },
      { type: 'end', at: 'x' },
    );
    await landing.journal.close();
    const [run] = (await listSoundRuns(lake, 0n)).runs;
    const other = await makeFolder();
    await linkRun(run ?? expect.unreachable('no run'), other);
    const { open: linked } = await listSoundRuns(other, 0n);
    const types = (await readEntries(path.join(linked?.folder ?? '', 'journal.ndjson'), RUN_FOLD)).map(
      ({ type }) => type,
    );
    expect(types).toEqual(['begin', 'calls', 'feed.done', 'datasets', 'hydrate.done']);
    expect(linked?.state.stage).toBe('complete');
    const file = path.join(linked?.folder ?? '', 'feed.ndjson');
    expect((await stat(file)).ino).toBe((await stat(path.join(landing.folder, 'feed.ndjson'))).ino);
    expect(await readFile(path.join(landing.folder, 'journal.ndjson'), 'utf8')).toContain('"end"');
  });

  test('keep only their journal open, and only until they end', async () => {
    const landing = await beginRun(lake, start(1n), at(0));
    expect(await listOpenFiles(landing.folder)).toEqual(['journal.ndjson']);
    await dropRun(landing);
    await endRun(2n, 0);
    expect(await findUnfinishedRun(lake, 0n, realIo)).toBeUndefined();
    expect(await listOpenFiles(folderOf('000002-20261120T060000Z'))).toEqual([]);
  });
});
