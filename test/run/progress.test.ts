import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { showPlan } from '../../src/cli/actions/show-plan.js';
import type { Progress } from '../../src/io/io.js';
import { syncWithWings } from '../../src/wings/index.js';
import { act } from '../cli/open-context.js';
import { openWorld, testIo } from './world.js';

// The history has several pages of changes.
const world = await openWorld({ items: 1_500, pastDays: 60 });
afterAll(() => world.close());

const told: Progress[] = [];
const io = { ...testIo, progress: (update: Progress) => void told.push(update) };
const of = (part: string) => told.filter((update) => update.part === part);

test('the long steps of a run report their total in advance, and reach it', async () => {
  await syncWithWings(world.pipeline, io);
  for (const part of ['snapshot', 'feed', 'typing', 'tables', 'checks']) {
    const { rows, totalRows, done } = of(part).at(-1) as Progress;
    expect([part, totalRows, done]).toEqual([part, rows, true]);
    expect(rows).toBeGreaterThan(0n);
  }
  expect(of('tables').every(({ unit, totalRows }) => unit === 'tables' && totalRows !== undefined)).toBe(true);
  const all = of('feed').at(-1)?.rows ?? 0n;
  const estimates = of('feed').filter(({ isEstimate, totalRows }) => isEstimate === true && totalRows !== undefined);
  expect(estimates.length).toBeGreaterThan(0);
  for (const { totalRows = 0n } of estimates) expect(Number(totalRows) / Number(all)).toBeCloseTo(1, 1);
});

test('plan reports the duration and rows of the last similar run', async () => {
  const file = path.join(world.folder, 'prices.yaml');
  await writeFile(path.join(world.folder, 'key'), world.sandbox.keys.live);
  const source = `source: { baseUrl: '${world.sandbox.baseUrl}', apiKey: { file: '${world.folder}/key' } }`;
  await writeFile(file, `name: test\n${source}\nlake: { path: '${world.lakePath}' }\n`);
  const tellTime = async (request: Partial<Parameters<typeof showPlan>[0]> = {}) =>
    /^Time: .*$/mu.exec((await act(showPlan, { pipeline: file, ...request })).text)?.[0];

  const first = { lake: path.join(world.folder, 'none') };
  expect(await tellTime(first)).toMatch(
    /^Time: unknown before a first run\. In the benchmarks, this number of rows took about 2\.\d s /u,
  );
  world.sandbox.changeAccount({ limits: { ratePerSecond: 5 } });
  expect(await tellTime(first)).toMatch(
    /^Time: at least [1-9][^,]* s, for the calls at the plan's rate\. In the benchmarks, /u,
  );
  world.sandbox.changeAccount({ limits: { ratePerSecond: null } });
  // The first run also read all changes.
  expect(await tellTime({ reconcile: true })).toMatch(
    /^Time: run 1 took \d.*s for [\d,]+ rows; this one has ≈ 1,5\d\d\.$/u,
  );
  await syncWithWings({ ...world.pipeline, source: { ...world.pipeline.source, mode: 'snapshot' } }, io);
  expect(await tellTime({ reconcile: true })).toMatch(/^Time: about \d.*s, as run 2 took\.$/u);
  expect(await tellTime()).toMatch(
    /^Time: unknown before a first run in feed mode\. Run \d, in snapshot mode, took \d.*s for [\d,]+ rows; this one has ≈ 0\.$/u,
  );
});
