import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import { failure } from '../failure.js';
import { alterDigit, openAlteredWorld, PRICE } from './altered-world.js';
import { testIo } from './world.js';

const { world, leaveLanded, leaveAltered, syncAgain, countAsked, expectExact } = await openAlteredWorld();
afterAll(() => world.close());

test('an altered price in the feed after a complete copy is requested again, but not the complete export', async () => {
  await leaveAltered('snapshot', /^feed\.ndjson$/);
  const { report, warned } = await syncAgain();
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(warned).toHaveLength(1);
  expect([countAsked('/changes') > 0, countAsked('/export')]).toEqual([true, 0]);
  await expectExact();
});

test('an altered price on a page of products is requested again, and nothing before it', async () => {
  await leaveAltered('snapshot', /^products/, /"min":\d/);
  const { report } = await syncAgain();
  expect(report.row).toMatchObject({ products_different: 0n });
  expect([countAsked('/products'), countAsked('/export'), countAsked('/changes')]).toEqual([1, 0, 0]);
  await expectExact();
});

test.each([
  ['poll', 'poll'],
  ['feed', 'hydrate'],
] as const)('in a run in mode %s, rows after the last one that the journal lists are ignored', async (mode, kind) => {
  const folder = await leaveLanded(mode);
  const names = (await readdir(folder)).filter((name) => name.startsWith(kind));
  expect(names).not.toEqual([]);
  for (const name of names) {
    const [row = ''] = (await readFile(path.join(folder, name), 'utf8')).split('\n');
    const altered = row.replace(PRICE, alterDigit);
    expect(altered).not.toBe(row);
    await appendFile(path.join(folder, name), `${altered}\n${row.slice(0, 9)}`);
  }
  const { report, warned } = await syncAgain();
  expect(warned).toEqual([]);
  expect(report).toMatchObject({ published: true, resumed: true, row: { rejected: 0n } });
  await expectExact();
});

describe('an export with a price that was altered on disk', () => {
  test("isn't requested again if the budget doesn't allow it, and pages replace its rows", async () => {
    await leaveAltered('snapshot', /^export-/);
    world.pipeline.budget.exportRows = { count: 1 };
    const { report, warned } = await syncAgain();
    expect([report.row.export_rows, warned.length, countAsked('/export')]).toEqual([0n, 1, 0]);
    await expectExact();
  });

  test("isn't requested again if neither rows nor calls are left, and a larger budget lets the run continue", async () => {
    await leaveAltered('snapshot', /^export-/);
    Object.assign(world.pipeline.budget, { exportRows: { count: 1 }, calls: { count: 1 } });
    expect((await failure(syncAgain())).code).toBe('budget');
    expect(world.requests.filter((request) => !request.startsWith('/plan'))).toEqual([]);
    Object.assign(world.pipeline.budget, { exportRows: { count: 10_000 }, calls: { count: 10_000 } });
    expect((await syncAgain()).report).toMatchObject({ published: true, resumed: true });
    await expectExact();
  });
});

test('an altered price in an item history is refused by each run until the history is requested again', async () => {
  const read = () => backfillHistory(world.pipeline, { where: 'true' }, testIo, new AbortController().signal);
  await leaveAltered('feed', /^history\.ndjson$/, undefined, read);
  for (const _run of ['the next', 'the one after it']) {
    const { code, message, facts } = await failure(syncAgain());
    expect([code, facts.hint]).toEqual(['lake_invalid', expect.stringContaining('request these histories again')]);
    expect(message).toMatch(
      /backfill\/history\.ndjson: bytes \d+ to \d+, the history of item \d+, have changed since they landed/,
    );
  }
  await rm(path.join(world.lakePath, '_pricelake', 'backfill'), { recursive: true });
  expect((await read()).run.row.rejected).toBe(0n);
  await expectExact();
});
