import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import type { Io } from '../../src/io/io.js';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

/** A lake after its first copy; the service has moved on. */
let original: string;
const world = await openWorld({ items: 40, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 30 });
  original = world.lakePath;
});
afterAll(() => world.close());

/** Leaves a run that has landed and not published. Returns its folder. */
async function leaveLanded(
  mode: 'feed' | 'snapshot' | 'poll',
  run: () => Promise<unknown> = () => world.sync(),
): Promise<string> {
  world.renew(original);
  world.pipeline.source.mode = mode;
  world.pipeline.proof.products = true;
  world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
  expect(await failure(run())).toMatchObject({ code: 'gate_failed' });
  const landing = path.join(world.lakePath, '_pricelake', 'landing');
  world.requests.length = 0;
  return path.join(landing, (await readdir(landing)).sort().at(-1) ?? '');
}

const alterDigit = (price: string) => price.replace(/\d$/, (digit) => String((Number(digit) % 9) + 1));
const PRICE = /"price":"?\d/;

/** Leaves a run that has landed and not published, with one digit of a price in its landed bytes altered. */
async function leaveAltered(
  mode: 'feed' | 'snapshot',
  file: RegExp,
  price = PRICE,
  run?: () => Promise<unknown>,
): Promise<string> {
  const folder = await leaveLanded(mode, run);
  const name = (await readdir(folder)).find((one) => file.test(one)) ?? expect.unreachable('nothing landed');
  const altered = path.join(folder, name);
  const text = await readFile(altered, 'utf8');
  const changed = text.replace(price, alterDigit);
  expect(changed).not.toBe(text);
  await writeFile(altered, changed);
  return altered;
}

/** The next try, with what it warns of. */
async function syncAgain(): Promise<{ report: RunReport; warned: Record<string, unknown>[] }> {
  world.pipeline.checks = {};
  const warned: Record<string, unknown>[] = [];
  const log: Io['log'] = (_level, event, facts) => void (event === 'landing.altered' && warned.push(facts ?? {}));
  return { report: await syncWithWings(world.pipeline, { ...testIo, log }), warned };
}

const countAsked = (path: string) => world.requests.filter((request) => request.startsWith(path)).length;

async function expectExact(): Promise<void> {
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  await runVerify({ lake: world.lakePath }, openContext(true));
}

test('a price of the feed that changed on the disk between two tries is read again, with a warning', async () => {
  const file = await leaveAltered('feed', /^feed\.ndjson$/);
  const { report, warned } = await syncAgain();
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(warned).toEqual([{ runId: report.row.run_id, what: expect.stringContaining(`${file} bytes 0 to `) }]);
  expect([countAsked('/changes') > 0, countAsked('/export')]).toEqual([true, 0]);
  await expectExact();
});

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
  test('is not published: the export is bought again as one that broke off, with a warning that says how many rows', async () => {
    const file = await leaveAltered('snapshot', /^export-/);
    const { report, warned } = await syncAgain();
    const rows = report.row.export_rows_landed;
    expect(warned).toEqual([{ runId: report.row.run_id, what: expect.stringContaining(`${file} bytes 0 to `), rows }]);
    expect(report.row).toMatchObject({ export_rows: rows, export_rows_lost: rows });
    expect(countAsked('/export')).toBe(1);
    await expectExact();
  });

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

  test('stays as it is where a held batch is to be published without a call', async () => {
    const file = await leaveAltered('snapshot', /^export-/);
    const { code, message } = await failure(world.sync({ publishHeld: true }));
    expect([code, message]).toEqual(['lake_invalid', expect.stringContaining(`${file} bytes 0 to `)]);
    expect(world.requests).toEqual([]);
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
