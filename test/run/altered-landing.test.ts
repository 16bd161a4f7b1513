import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { syncPipeline } from '../../src/run/sync-pipeline.js';
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

/** Leaves a run that has landed and not published, with one digit of a price in its landed bytes altered. */
async function leaveAltered(mode: 'feed' | 'snapshot', file: RegExp): Promise<string> {
  world.renew(original);
  world.pipeline.source.mode = mode;
  world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
  expect(await failure(world.sync())).toMatchObject({ code: 'gate_failed' });
  const landing = path.join(world.lakePath, '_pricelake', 'landing');
  const folder = path.join(landing, (await readdir(landing)).sort().at(-1) ?? '');
  const name = (await readdir(folder)).find((one) => file.test(one)) ?? expect.unreachable('nothing landed');
  const altered = path.join(folder, name);
  const text = await readFile(altered, 'utf8');
  const changed = text.replace(/("price":"?)(\d)/, (_all, start, digit) => `${start}${(Number(digit) % 9) + 1}`);
  expect(changed).not.toBe(text);
  await writeFile(altered, changed);
  world.requests.length = 0;
  return altered;
}

test('a price of the feed that changed on the disk between two tries is read again, with a warning', async () => {
  const file = await leaveAltered('feed', /^feed\.ndjson$/);
  world.pipeline.checks = {};
  const logged: unknown[][] = [];
  const io = { ...testIo, log: (...event: unknown[]) => void logged.push(event) };
  expect(await syncPipeline(world.pipeline, io)).toMatchObject({ published: true, resumed: false });
  expect(logged).toContainEqual([
    'warn',
    'landing.altered',
    expect.objectContaining({ what: expect.stringContaining(`${file} bytes 0 to `) }),
  ]);
  expect(world.requests.some((request) => request.startsWith('/changes'))).toBe(true);
  expect(world.requests.filter((request) => request.startsWith('/export'))).toEqual([]);
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  await runVerify({ lake: world.lakePath }, openContext(true));
});

test('a price of an export that changed on the disk is not published, and its rows are not bought again unasked', async () => {
  const file = await leaveAltered('snapshot', /^export-/);
  world.pipeline.checks = {};
  const { code, message, facts } = await failure(world.sync());
  expect([code, message]).toEqual(['lake_invalid', expect.stringContaining(`${file} bytes 0 to `)]);
  expect(facts.hint).toMatch(
    /^Move this run's folder away\..* \d+ export rows that this run has taken count and cost again\.$/,
  );
  expect(world.requests).toEqual([]);
});
