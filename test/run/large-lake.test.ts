import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { readJsonLine, runPricelake } from '../cli/pricelake.js';
import { readItems, readTruth } from './world.js';

/** The runs after a first copy: what changes before each, and its arguments. */
type Runs = [happens: { hours: number; changes?: number }, ...args: string[]][];

/** Runs in another process, which uses all threads of the machine. */
async function expectExactLake(service: SandboxOptions, source: string, runs: Runs): Promise<void> {
  const sandbox = await startSandbox({ ratePerSecond: null, ...service });
  const cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-large-'));
  onTestFinished(async () => {
    await sandbox.close();
    await rm(cwd, { recursive: true });
  });
  const account = `baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'`;
  await writeFile(path.join(cwd, 'prices.yaml'), `name: large\nsource: {${account}${source}}\nlake: {path: ./lake}\n`);
  const run = async (...args: string[]) => {
    const outcome = await runPricelake([...args, '--json'], { cwd, env: { PRICELAKE_API_KEY: sandbox.keys.live } });
    expect(outcome.code, outcome.stderr).toBe(0);
    return readJsonLine(outcome);
  };
  await run('sync');
  for (const [happens, ...args] of runs) {
    await sandbox.advance(happens);
    expect(await run('sync', ...args)).toMatchObject({ ok: true, published: true });
  }
  const [items, truth] = [await readItems(path.join(cwd, 'lake')), await readTruth(sandbox)];
  const differing = [...truth].filter(([id, row]) => String(items.get(id)) !== String(row));
  expect([items.size, differing.slice(0, 3)]).toEqual([truth.size, []]);
  expect(await run('verify', '--lake', 'lake')).toMatchObject({ ok: true });
}

// The lake has more than one slice of items, and more than one batch of landed bytes.
test.skipIf(availableParallelism() < 2)(
  'a lake whose batches and slices are processed concurrently is exact after a copy, few changes and many changes',
  () =>
    expectExactLake({ items: 160_000, sites: 30, pastDays: 3, plan: 'unlimited' }, ', history: none', [
      [{ hours: 1, changes: 60 }],
      [{ hours: 1, changes: 30_000 }],
    ]),
  600_000,
);

// So many files of items that reading their footers takes longer than reading the changes.
test('a lake of 400 shops is reconciled, and continues afterwards', () => {
  const runs: Runs = [[{ hours: 1 }], [{ hours: 1 }, '--reconcile'], [{ hours: 1 }]];
  return expectExactLake({ items: 5_000, sites: 400 }, '', runs);
}, 600_000);
