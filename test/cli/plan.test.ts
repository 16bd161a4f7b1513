import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { showPlan } from '../../src/cli/actions/show-plan.js';
import { describeError, exitCodeOf } from '../../src/cli/exit-codes.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { renameMembers } from '../../src/cli/member-names.js';
import type { PricelakeError } from '../../src/io/errors.js';
import { realIo } from '../../src/io/real-io.js';
import { openMemory } from '../../src/journal/memory.js';
import { openLake } from '../../src/lake/lake.js';
import { openExportMemory } from '../../src/plan/broken-exports.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { act, openContext } from './open-context.js';

const sandbox = await startSandbox({ items: 120, sites: 2, ratePerSecond: null, limits: { exportRowsPerMonth: 100 } });
const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-plan-test-'));
const pipeline = path.join(folder, 'prices.yaml');
await writeFile(path.join(folder, 'key'), sandbox.keys.live);
await writeFile(
  pipeline,
  `source: {baseUrl: '${sandbox.baseUrl}', apiKey: {file: '${folder}/key'}}\nlake: {path: '${folder}/lake'}\nbudget: {calls: 45}\n`,
);
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** The error of a plan that is refused. */
const refuse = (request: { maxOverage?: number }, context = openContext(true)): Promise<PricelakeError> =>
  showPlan({ pipeline, ...request }, context).then(
    () => expect.unreachable('sync would be refused'),
    (reason: PricelakeError) => reason,
  );

describe('pricelake plan', () => {
  test('shows the mode, the steps, the cost, and what remains of the month afterwards', async () => {
    const { text, report } = await act(showPlan, { pipeline, maxOverage: 1 });
    expect(text).toContain('Mode: snapshot, because the lake has no items yet.');
    expect(text).toMatch(/^export +1 +120 +current item count$/m);
    expect(text).toMatch(/^sample +10 +items to compare with the lake$/m);
    expect(text).toMatch(
      /^Time: unknown before a first run\. In the benchmarks, this number of rows took about 2\.0 s \(two cores, /m,
    );
    expect(text).toContain('Overage: up to 1 block of 10,000 rows.');
    expect(text).toMatch(
      /Left after the run: calls [\d,]+ of [\d,]+, export rows 0 of 100 until 2026-12-01T00:00:00.000Z\./,
    );
    expect(text).toMatch(/The plan command itself made \d calls and wrote nothing\.\n$/);
    expect(JSON.parse(toJsonText(report))).toMatchObject({
      mode: 'snapshot',
      exportRows: 120,
      overageBlocks: 1,
      steps: expect.arrayContaining([expect.objectContaining({ step: 'export', calls: 1, exportRows: 120 })]),
    });
  });

  test('exits with 75 while sync would wait before retrying an export that keeps breaking off, and says until when', async () => {
    const lake = await openLake(path.join(folder, 'lake'), { create: true });
    const memory = openExportMemory(await openMemory(lake, realIo), realIo, 'ndjson');
    for (let run = 0; run < 2; run++) await memory.note('all', { rows: 120n, reason: 'cut' });
    const error = await refuse({ maxOverage: 1 });
    expect(exitCodeOf(error)).toBe(75);
    expect(error.message).toMatch(/^sync would stop: export all was interrupted in 2 runs, /);
    expect(error.facts.nextRunAt).toEqual(new Date((memory.list()[0]?.at.getTime() ?? 0) + 3_600_000));
    await memory.forget('all');
  });

  test('exits with 5 if sync would be refused, and its JSON contains the plan and the time to return', async () => {
    const context = openContext(true);
    const error = await refuse({}, context);
    expect(exitCodeOf(error)).toBe(5);
    expect(context.output.text).toBe('');
    const json = JSON.parse(toJsonText(renameMembers(describeError(error))));
    expect(json.error).toMatchObject({ code: 'budget', next_run_at: '2026-12-01T00:00:00.000Z' });
    expect(json.error.facts.plan).toMatchObject({ export_rows: 120, overage_blocks: 1, looked: expect.any(Number) });
  });
});
