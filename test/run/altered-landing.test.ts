import { afterAll, describe, expect, test } from 'vitest';
import { failure } from '../failure.js';
import { openAlteredWorld } from './altered-world.js';

const { world, leaveAltered, syncAgain, countAsked, expectExact } = await openAlteredWorld();
afterAll(() => world.close());

test('a price in the feed that was altered on disk between two attempts is requested again, with a warning', async () => {
  const file = await leaveAltered('feed', /^feed\.ndjson$/);
  const { report, warned } = await syncAgain();
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(warned).toEqual([{ runId: report.row.run_id, what: expect.stringContaining(`${file} bytes 0 to `) }]);
  expect([countAsked('/changes') > 0, countAsked('/export')]).toEqual([true, 0]);
  await expectExact();
});

describe('a price in an export that was altered on disk', () => {
  test("isn't published: the export is requested again as if interrupted, with a warning that names the number of rows", async () => {
    const file = await leaveAltered('snapshot', /^export-/);
    const { report, warned } = await syncAgain();
    const rows = report.row.export_rows_landed;
    expect(warned).toEqual([{ runId: report.row.run_id, what: expect.stringContaining(`${file} bytes 0 to `), rows }]);
    expect(report.row).toMatchObject({ export_rows: rows, export_rows_lost: rows });
    expect(countAsked('/export')).toBe(1);
    await expectExact();
  });

  test('makes publishing a held batch fail, because that makes no calls', async () => {
    const file = await leaveAltered('snapshot', /^export-/);
    const { code, message } = await failure(world.sync({ publishHeld: true }));
    expect([code, message]).toEqual(['lake_invalid', expect.stringContaining(`${file} bytes 0 to `)]);
    expect(world.requests).toEqual([]);
  });
});
