import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import { failure } from '../failure.js';
import { alterDigit, openAlteredWorld, PRICE } from './altered-world.js';
import { testIo } from './world.js';

const { world, leaveLanded, leaveAltered, syncAgain, countAsked, expectExact } = await openAlteredWorld();
afterAll(() => world.close());

test('a price of the feed behind a complete copy is read again, and the export that is whole is not', async () => {
  await leaveAltered('snapshot', /^feed\.ndjson$/);
  const { report, warned } = await syncAgain();
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(warned).toHaveLength(1);
  expect([countAsked('/changes') > 0, countAsked('/export')]).toEqual([true, 0]);
  await expectExact();
});

test('a price of a page of products is read again, and nothing before it', async () => {
  await leaveAltered('snapshot', /^products/, /"min":\d/);
  const { report } = await syncAgain();
  expect(report.row).toMatchObject({ products_different: 0n });
  expect([countAsked('/products'), countAsked('/export'), countAsked('/changes')]).toEqual([1, 0, 0]);
  await expectExact();
});

test.each([
  ['poll', 'poll'],
  ['feed', 'hydrate'],
] as const)('in a run by %s, rows behind the last one that the journal names are not read', async (mode, kind) => {
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

describe('a price of an export that changed on the disk', () => {
  test('is not bought again where the budget does not allow it: pages bring the rows', async () => {
    await leaveAltered('snapshot', /^export-/);
    world.pipeline.budget.exportRows = { count: 1 };
    const { report, warned } = await syncAgain();
    expect([report.row.export_rows, warned.length, countAsked('/export')]).toEqual([0n, 1, 0]);
    await expectExact();
  });

  test('is not bought again where neither the budget of rows nor that of calls allows it; larger ones go on', async () => {
    await leaveAltered('snapshot', /^export-/);
    Object.assign(world.pipeline.budget, { exportRows: { count: 1 }, calls: { count: 1 } });
    expect((await failure(syncAgain())).code).toBe('budget');
    expect(world.requests.filter((request) => !request.startsWith('/plan'))).toEqual([]);
    Object.assign(world.pipeline.budget, { exportRows: { count: 10_000 }, calls: { count: 10_000 } });
    expect((await syncAgain()).report).toMatchObject({ published: true, resumed: true });
    await expectExact();
  });
});

test('a price of a history that changed on the disk is refused by each run until it is requested again', async () => {
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
