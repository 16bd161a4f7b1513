/** Tests the shards of one pipeline file, which have separate lakes and a common budget. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { readLake } from '../run/world.js';
import { type Outcome, readJsonLine, runHere, runPricelake } from './pricelake.js';

/** Two of the account's datasets that share listings. */
const SHARDS = '{electronics: {datasets: [11]}, europe: {datasets: [26]}}';

const sandbox = await startSandbox({ items: 400, sites: 6, ratePerSecond: null });
const root = await mkdtemp(path.join(tmpdir(), 'pricelake-shards-'));
afterAll(async () => {
  await sandbox.close();
  await rm(root, { recursive: true });
});

let folders = 0;
/** A folder with a pipeline file, and the environment of its commands. */
async function open(more = '', shards = SHARDS, service: Pick<Sandbox, 'baseUrl' | 'keys'> = sandbox) {
  const cwd = path.join(root, String(++folders));
  await mkdir(cwd);
  const source = `source: {baseUrl: "${service.baseUrl}", apiKey: "\${KEY}", history: none, shards: ${shards}}`;
  await writeFile(path.join(cwd, 'prices.yaml'), `${source}\nlake: {path: ./lake}\n${more}`);
  const env = { KEY: service.keys.live };
  const run = (...args: string[]) => runHere(args, { cwd, env });
  const spawn = (...args: string[]) => runPricelake(args, { cwd, env });
  return { cwd, run, spawn, lake: (name: string) => path.join(cwd, 'lake', name) };
}

const readIds = async (lake: string) =>
  (await readLake(lake, (glob) => `SELECT item_id FROM ${glob('items')} ORDER BY 1`)).flat();

describe('sync --dataset', () => {
  test('runs one shard, whose datasets go to its own lake', async () => {
    const { cwd, run, lake } = await open();
    expect(await run('sync', '--dataset', 'electronics')).toMatchObject({ code: 0 });
    expect(await readdir(path.join(cwd, 'lake'))).toEqual(['electronics', 'electronics.budget.json']);
    expect(await run('sync', '--dataset', 'europe')).toMatchObject({ code: 0 });
    const [electronics, europe] = [await readIds(lake('electronics')), await readIds(lake('europe'))];
    expect(electronics.length).toBeGreaterThan(10);
    expect(europe.length).toBeGreaterThan(10);
    expect(europe).not.toEqual(electronics);
    // Other commands find the shard by its folder.
    expect(await run('status', 'prices.yaml', '--lake', './lake/europe')).toMatchObject({ code: 0 });
    expect(await run('doctor', '--dataset', 'europe')).toMatchObject({ code: 0 });
  });

  test.each([
    [['sync'], 'has a separate lake for each shard', 'Choose one with --dataset: electronics, europe.'],
    [
      ['sync', '--dataset', 'asia'],
      "doesn't define a shard named asia",
      'Choose one with --dataset: electronics, europe.',
    ],
    [['status'], 'has a separate lake for each shard', 'Choose one with --lake: '],
    [['sync', '--dataset', 'europe', '--lake', 'x'], "can't be used together", ''],
  ])('%s is refused with a list of the shards', async (args, message, hint) => {
    const { run } = await open();
    const { code, stderr } = await run(...args);
    const text = stderr.replaceAll(/\s+/gu, ' ');
    expect(code).toBe(2);
    expect(text).toContain(message);
    expect(text).toContain(hint);
  });

  test('is refused for a file without shards', async () => {
    const { run, cwd } = await open();
    const text = await readFile(path.join(cwd, 'prices.yaml'), 'utf8');
    await writeFile(path.join(cwd, 'prices.yaml'), text.replace(`, shards: ${SHARDS}`, ''));
    expect((await run('sync', '--dataset', 'europe')).stderr).toContain("doesn't define any shards");
  });
});

describe('the budget of the API key', () => {
  /** Opens a separate service whose monthly count nothing else changes. */
  async function openService() {
    const service = await startSandbox({ items: 400, sites: 6, ratePerSecond: null });
    onTestFinished(service.close);
    const used = async () => {
      const answer = await fetch(`${service.baseUrl}/api/v1/plan`, {
        headers: { authorization: `Bearer ${service.keys.live}` },
      });
      return ((await answer.json()) as { usage: { apiCalls: number; exportRows: number } }).usage;
    };
    return { service, used };
  }

  const codes = (outcomes: Outcome[]) => outcomes.map(({ code }) => code);

  test('is never exceeded by all shards together, even if they run concurrently and repeatedly', async () => {
    const { service, used } = await openService();
    const { spawn } = await open('budget: {calls: 24}\n', SHARDS, service);
    const ended: (number | null)[] = [];
    for (let round = 0; round < 3; round++) {
      const both = ['electronics', 'europe'].map((name) => spawn('sync', '--dataset', name, '--json'));
      ended.push(...codes(await Promise.all(both)));
      await service.advance({ hours: 1, changes: 30 });
    }
    // A run without any call left still makes one to read the plan. The test's own request is one more.
    const looks = ended.filter((code) => code === 5).length + 1;
    expect((await used()).apiCalls).toBeLessThanOrEqual(24 + looks);
    expect(ended.filter((code) => code === 5).length).toBeGreaterThan(0);
    expect(ended.filter((code) => code === 0 || code === 5)).toEqual(ended);
  });

  test("for export rows is divided as the file says, and a shard without rows doesn't stop another", async () => {
    const { service, used } = await openService();
    const shards = '{electronics: {datasets: [11], budget: 2%}, europe: {datasets: [26]}}';
    const { spawn } = await open('budget: {exportRows: 300}\n', shards, service);
    const outcomes = await Promise.all(
      ['electronics', 'europe'].map((name) => spawn('sync', '--dataset', name, '--json')),
    );
    expect(codes(outcomes)).toEqual([0, 0]);
    const rows = outcomes.map((outcome) => (readJsonLine(outcome) as { export_rows: number }).export_rows);
    // Six rows are not enough for a copy, so its items come by pages.
    expect(rows).toEqual([0, expect.any(Number)]);
    expect(rows[1]).toBeGreaterThan(0);
    expect((await used()).exportRows).toBe(rows[1]);
  });

  test('counts the calls of a killed process', async () => {
    const { service, used } = await openService();
    const { spawn, cwd } = await open('budget: {calls: 60}\n', SHARDS, service);
    const child = runPricelakeAndKill(cwd, service);
    await child;
    await spawn('plan', '--dataset', 'europe', '--json');
    const counted = JSON.parse(await readFile(path.join(cwd, 'lake', 'europe.budget.json'), 'utf8')) as {
      calls: number;
    };
    // The service's count includes the test's own request.
    expect(counted.calls).toBeGreaterThanOrEqual((await used()).apiCalls - 1);
  });

  /** Ends a sync at a moment when it has made calls. */
  async function runPricelakeAndKill(cwd: string, service: Sandbox): Promise<Outcome> {
    return runPricelake(['sync', '--dataset', 'europe', '--json'], {
      cwd,
      env: { KEY: service.keys.live },
      act: (child) => void setTimeout(() => child.kill('SIGKILL'), 1_500),
    });
  }
});

describe('plan --all', () => {
  test("estimates each shard's cost, and counts listings that are bought more than once", async () => {
    const { run, lake } = await open();
    const outcome = await run('plan', '--all', '--json');
    expect(outcome.code).toBe(0);
    const { shards, overlap } = readJsonLine(outcome) as {
      shards: { shard: string; lake: string; export_rows: number; mode: string }[];
      overlap: { counted: number; least: number; most: number };
    };
    expect(shards).toMatchObject([
      { shard: 'electronics', mode: 'snapshot' },
      { shard: 'europe', mode: 'snapshot' },
    ]);
    expect(overlap.counted).toBe(shards.reduce((sum, { export_rows }) => sum + export_rows, 0));
    for (const { shard } of shards) await run('sync', '--dataset', shard);
    const [one, other] = [await readIds(lake('electronics')), new Set(await readIds(lake('europe')))];
    const twice = one.filter((id) => other.has(id)).length;
    expect(twice).toBeGreaterThan(0);
    expect(overlap.least).toBeLessThanOrEqual(twice);
    expect(overlap.most).toBeGreaterThanOrEqual(twice);
    const { stdout } = await run('plan', '--all');
    expect(stdout).toMatch(/^electronics +\S+ .*\n^europe /mu);
    expect(stdout.replaceAll(/\s+/gu, ' ')).toContain(
      "the API's filters can't exclude the listings of another dataset",
    );
  });

  test('is refused for a file without shards', async () => {
    const { run, cwd } = await open();
    const text = await readFile(path.join(cwd, 'prices.yaml'), 'utf8');
    await writeFile(path.join(cwd, 'prices.yaml'), text.replace(`, shards: ${SHARDS}`, ''));
    expect(await run('plan', '--all')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("doesn't define any shards"),
    });
  });
});
