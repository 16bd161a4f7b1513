import { getEventListeners } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, readLake, testIo } from './world.js';

/** One service, which changes from test to test, and a lake after its first run. */
let first: RunReport;
let copied: string;
const world = await openWorld({ items: 120, sites: 4 });
beforeAll(async () => {
  first = await world.sync();
  copied = world.lakePath;
});
afterAll(() => world.close());

describe('sync', () => {
  test('the first run copies every item, including removed items, and the complete history', async () => {
    await expectExactCopy(world);
    const { changes } = await world.sandbox.dump();
    const history = await readLake(copied, (glob) => `SELECT change_id FROM ${glob('history')} ORDER BY 1`);
    expect(history.map(([id]) => id)).toEqual(changes.map((line) => /"id":\s*(\d+)/.exec(line)?.[1]));
    expect(first).toMatchObject({ published: true, resumed: false });
    expect(first.row.received).toBe(first.row.written + first.row.rejected + first.row.deduplicated);
    expect(first.checks.filter((check) => check.severity === 'gate' && check.violations > 0n)).toEqual([]);
  });

  // I8 of SPEC.md
  test('a run that finds no change writes no file', async () => {
    world.renew(copied);
    const before = await listFiles(world.lakePath);
    const report = await world.sync();
    expect(report.published).toBe(false);
    expect(report.row.received).toBe(0n);
    expect(await listFiles(world.lakePath)).toEqual(before);
  });

  test("a run leaves no listener on its caller's signal, because the caller may start many runs", async () => {
    world.renew(copied);
    const { signal } = new AbortController();
    await syncWithWings(world.pipeline, testIo, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('the ledger row of a run without changes is written by the next run that publishes', async () => {
    world.renew(copied);
    await world.sync();
    await world.sync();
    await world.sandbox.advance({ hours: 1, changes: 10 });
    await world.sync();
    const runs = await readLake(
      world.lakePath,
      (glob) => `SELECT run_number, mode, received FROM ${glob('runs')} ORDER BY run_number`,
    );
    expect(runs.map(([number, mode]) => `${number} ${mode}`)).toEqual(['1 snapshot', '2 feed', '3 feed', '4 feed']);
    expect(runs[2]?.[2]).toBe('0');
  });

  test('a deleted lake.json is recreated without reading a row', async () => {
    world.renew(copied);
    await world.sync();
    const pointer = path.join(world.lakePath, 'lake.json');
    await rm(pointer);
    const report = await world.sync();
    expect(report).toMatchObject({ published: true });
    expect(report.row.received).toBe(0n);
    expect(JSON.parse(await readFile(pointer, 'utf8'))).toMatchObject({ runNumber: 3 });
    await expectExactCopy(world);
    expect((await world.sync()).published).toBe(false);
  });

  test('with history: none, the feed is read from an hour before the watermark', async () => {
    world.renew();
    world.pipeline.source.history = 'none';
    const report = await world.sync();
    expect(report.row.cursor_from).toBeNull();
    expect(world.requests.filter((request) => request.startsWith('/changes?'))).toHaveLength(1);
    await world.sandbox.advance({ hours: 6, changes: 100 });
    await world.sync();
    await expectExactCopy(world);
    const [[before, after] = []] = await readLake(
      world.lakePath,
      (glob) => `SELECT count(*) FILTER (run_id = '${report.row.run_id}'), count(*) FROM ${glob('history')}`,
    );
    expect(Number(after) - Number(before)).toBe(100);
    expect(Number(before)).toBeLessThan(40);
  });

  test("if items change while the export runs, changes that it contains aren't applied twice", async () => {
    world.renew();
    let exports = 0;
    world.intercept = async (request, next) => {
      const answer = await next(request);
      if (!request.url.includes('/export')) return answer;
      const body = Buffer.from(await answer.arrayBuffer());
      if (exports++ === 0) await world.sandbox.advance({ hours: 1, changes: 50 });
      return new Response(body, { headers: answer.headers });
    };
    await world.sync();
    expect(exports).toBe(1);
    await expectExactCopy(world);
  });
});

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => !name.startsWith('_pricelake')).sort();
}
