import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import type { Io } from '../../src/io/io.js';
import { openLake } from '../../src/lake/lake.js';
import { readPointer } from '../../src/lake/pointer.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { rebuildWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { changeText, openWorld, readItems, readLoggedTables, readTruth, testIo } from './world.js';

/** A lake after a first run, one with changes, one without, and a complete comparison. The service has changed since. */
let original: string;
let before: Record<string, string[]>;
const { signal } = new AbortController();

const world = await openWorld({ items: 40, sites: 2, limits: { historyDays: 2 } });
beforeAll(async () => {
  // One row can't be typed, so it is rejected, and its item is read again.
  world.intercept = changeText(/\/export$/, (text) => text.replace(/"price":[^,]+,/, '"price":"soon",'));
  expect((await world.sync()).row.rejected).toBe(1n);
  world.intercept = undefined;
  await world.sandbox.advance({ hours: 6, changes: 20 });
  await world.sync();
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  world.pipeline.source.mode = 'snapshot';
  await world.sync();
  original = world.lakePath;
  before = await readLoggedTables(original);
  await world.sandbox.advance({ hours: 1, changes: 10 });
});
afterAll(() => world.close());

beforeEach(() => world.renew(original));

const rebuild = () => rebuildWithWings(world.pipeline, testIo, signal);
const landing = () => path.join(world.lakePath, '_pricelake', 'landing');

async function expectSameRows(): Promise<void> {
  const after = await readLoggedTables(world.lakePath);
  for (const table of TABLE_NAMES) expect([table, after[table]]).toEqual([table, before[table]]);
  expect(world.requests).toEqual([]);
}

/** Compares the rows without the values that depend on older runs, which aren't replayed. */
async function expectSameValues(): Promise<void> {
  const forget = (rows: string[] = []) =>
    rows.map((row) =>
      row.replaceAll(/"(last_seen_at|read_at|change_id|run_id|received|written|deduplicated)":("[^"]*"|\w+),?/g, ''),
    );
  const after = await readLoggedTables(world.lakePath);
  for (const table of TABLE_NAMES) {
    const list = ['items', 'runs', 'shop_currencies', 'matches'].includes(table)
      ? forget
      : (rows: string[] = []) => rows;
    expect([table, list(after[table]).sort()]).toEqual([table, list(before[table]).sort()]);
  }
  expect(world.requests).toEqual([]);
}

describe('rebuild', () => {
  // I9 of SPEC.md
  test('recreates every row, even of damaged and missing files, without a call, a key or a pipeline file', async () => {
    const names = await readdir(world.lakePath, { recursive: true });
    const find = (table: string) => names.filter((name) => name.startsWith(`${table}/`) && name.endsWith('.parquet'));
    for (const table of ['items', 'history', 'products', 'sites']) {
      await writeFile(path.join(world.lakePath, find(table)[0] ?? ''), 'damaged');
    }
    await rm(path.join(world.lakePath, find('items')[1] ?? ''));
    expect(await failure(world.sync())).toMatchObject({
      code: 'lake_invalid',
      facts: { hint: expect.stringContaining('rebuild') },
    });
    world.requests.length = 0;
    const facts = await readPointer(await openLake(original, { create: false }));
    const context = openContext();
    await runRebuild({ lake: world.lakePath }, context);
    await expectSameRows();
    expect(context.output.text).toMatch(/items +\d+ +\d+ +\d+\n/);
    expect(context.output.text).toMatch(/raw bytes of 3 runs, starting with 000001-\S+, without any API calls/);
    const { runId, cursor, at } = (await readPointer(await openLake(world.lakePath, { create: false }))) ?? {};
    expect({ runId, cursor, at }).toEqual({ runId: facts?.runId, cursor: facts?.cursor, at: facts?.at });
    expect(await readdir(path.join(world.lakePath, '_pricelake'))).not.toContain('rebuild');
    // The next run continues from the same cursor.
    const next = await world.sync();
    expect(next.row).toMatchObject({ mode: 'feed', cursor_from: facts?.cursor });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });

  test('starts at the last complete copy if older runs are gone, keeps their rows, and partitions items anew', async () => {
    await removeLandings(0, 1);
    world.pipeline.lake.tables = { items: { partitionBy: [] } };
    const report = await rebuild();
    expect(report.runs).toHaveLength(1);
    await expectSameValues();
    const folders = await readdir(path.join(world.lakePath, 'items'));
    expect(folders.filter((name) => name.startsWith('site_id'))).toEqual([]);
  });

  test('that is killed at any step can be repeated, or is cleaned up by a sync', async () => {
    for (const killAt of [8, 3]) {
      world.renew(original);
      await removeLandings(0, 1);
      let steps = 0;
      const log: Io['log'] = (_level, event) => {
        if (['replayed', 'rebuilt'].includes(event) && ++steps === killAt) throw new Error('the process dies');
      };
      await expect(rebuildWithWings(world.pipeline, { ...testIo, log }, signal)).rejects.toThrow('the process dies');
      if (killAt === 3) {
        await world.sync();
        expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
        const state = await readdir(path.join(world.lakePath, '_pricelake'));
        expect(state).not.toContain('rebuild');
      } else {
        await rebuild();
        await expectSameValues();
      }
    }
  });
});

describe('rebuild refuses, and leaves the tables unchanged,', () => {
  test('if a run in between is gone, and names it', async () => {
    const [gone] = await removeLandings(1);
    await rm(path.join(landing(), (await readdir(landing()))[1] ?? ''), {
      recursive: true,
    });
    const error = await failure(rebuild());
    expect(error).toMatchObject({ code: 'landing_gone', facts: { hint: expect.stringContaining('landing.keep') } });
    expect(error.message).toContain(`the data of runs ${gone}, `);
    await expectSameRows();
  });

  test('if no complete copy is kept', async () => {
    await removeLandings(0, 2);
    const error = await failure(rebuild());
    expect(error.message).toContain('no run with a complete snapshot is saved');
  });

  test("if a gate fails that wasn't overridden", async () => {
    await removeLandings(0, 1);
    world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
    expect(await failure(rebuild())).toMatchObject({ code: 'gate_failed' });
    await expectSameRows();
  });

  test("if rows of older runs are needed that can't be read", async () => {
    await removeLandings(0, 1);
    const file = (await readdir(world.lakePath, { recursive: true })).find((name) => /^history.*parquet$/.test(name));
    await writeFile(path.join(world.lakePath, file ?? ''), 'damaged');
    const error = await failure(rebuild());
    expect(error.message).toMatch(/^history can't be read, and the saved raw data can't restore some of the rows/);
  });
});

/** Deletes the landed bytes of the runs at these places, and returns their ids. */
async function removeLandings(...places: number[]): Promise<string[]> {
  const names = await readdir(landing());
  const gone = places.map((place) => names[place] ?? '');
  for (const name of gone) await rm(path.join(landing(), name), { recursive: true });
  return gone;
}
