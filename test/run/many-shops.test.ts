import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { readJsonLine, runPricelake } from '../cli/pricelake.js';
import { readItems, readTruth } from './world.js';

/** So many files of items that reading their footers takes longer than reading the changes. */
const SITES = 400;

let sandbox: Sandbox;
let cwd: string;
beforeAll(async () => {
  sandbox = await startSandbox({ items: 5_000, sites: SITES, ratePerSecond: null });
  cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-many-shops-'));
  const source = `{baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}`;
  await writeFile(path.join(cwd, 'prices.yaml'), `name: many\nsource: ${source}\nlake: {path: ./lake}\n`);
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

test('a lake of 400 shops is reconciled, and goes on', async () => {
  await run('sync');
  for (const args of [[], ['--reconcile'], []]) {
    await sandbox.advance({ hours: 1 });
    expect(await run('sync', ...args)).toMatchObject({ ok: true, published: true });
  }
  const [items, truth] = [await readItems(path.join(cwd, 'lake')), await readTruth(sandbox)];
  const differing = [...truth].filter(([id, row]) => String(items.get(id)) !== String(row));
  expect([items.size, differing.slice(0, 3)]).toEqual([truth.size, []]);
  expect(await run('verify', '--lake', 'lake')).toMatchObject({ ok: true });
}, 600_000);
