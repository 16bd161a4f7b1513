import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { readJsonLine, runPricelake } from '../cli/pricelake.js';
import { readItems, readTruth } from './world.js';

/** More than one slice of items, and more than one batch of landed bytes. */
const ITEMS = 160_000;

let sandbox: Sandbox;
let cwd: string;
beforeAll(async () => {
  sandbox = await startSandbox({ items: ITEMS, sites: 30, pastDays: 3, ratePerSecond: null, plan: 'unlimited' });
  cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-large-'));
  const source = `{baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}', history: none}`;
  await writeFile(path.join(cwd, 'prices.yaml'), `name: large\nsource: ${source}\nlake: {path: ./lake}\n`);
});
afterAll(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true });
});

/** In a process of its own, which has all threads of the machine. */
async function run(...args: string[]): Promise<unknown> {
  const outcome = await runPricelake([...args, '--json'], { cwd, env: { PRICELAKE_API_KEY: sandbox.keys.live } });
  expect(outcome.code, outcome.stderr).toBe(0);
  return readJsonLine(outcome);
}

test.skipIf(availableParallelism() < 2)(
  'a lake whose batches and slices are worked on side by side is exact after a copy, few changes and many',
  async () => {
    await run('sync');
    for (const changes of [60, 30_000]) {
      await sandbox.advance({ hours: 1, changes });
      expect(await run('sync')).toMatchObject({ ok: true, published: true });
    }
    const [items, truth] = [await readItems(path.join(cwd, 'lake')), await readTruth(sandbox)];
    const differing = [...truth].filter(([id, row]) => String(items.get(id)) !== String(row));
    expect([items.size, differing.slice(0, 3)]).toEqual([truth.size, []]);
    expect(await run('verify', '--lake', 'lake')).toMatchObject({ ok: true });
  },
  600_000,
);
