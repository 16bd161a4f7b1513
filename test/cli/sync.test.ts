// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { openWorld, readItems, readTruth, testIo } from '../run/world.js';
import { type Outcome, readJsonLine, runHere, runPricelake } from './pricelake.js';

const PIPELINE = 'source:\n  baseUrl: ${BASE_URL}\n  apiKey: ${KEY}\nlake:\n  path: ./lake\n';

type Intercept = (request: Request, next: (request: Request) => Promise<Response>) => Promise<Response> | undefined;
let intercept: Intercept = () => undefined;
let folders = 0;
/** Working directory of one test. */
let cwd: string;

const world = await openWorld({
  items: 60,
  sites: 2,
  pastDays: 5,
  intercept: (request, next) => intercept(request, next),
});
afterAll(() => world.close());
afterEach(() => {
  intercept = () => undefined;
  world.sandbox.changeAccount({ limits: { ratePerSecond: null } });
});

type Act = NonNullable<Parameters<typeof runPricelake>[1]>['act'];

/** Runs `pricelake sync` in a folder of its own with this pipeline file, in a process of its own if somebody acts on it. */
async function sync(text = PIPELINE, env: NodeJS.ProcessEnv = {}, act?: Act, ...flags: string[]) {
  cwd = path.join(world.folder, `cli-${++folders}`);
  await mkdir(cwd);
  await writeFile(path.join(cwd, 'prices.yaml'), text);
  return resync(env, act, ...flags);
}

async function resync(env: NodeJS.ProcessEnv = {}, act?: Act, ...flags: string[]): Promise<Outcome> {
  const { baseUrl, keys } = world.sandbox;
  const all = { BASE_URL: baseUrl, KEY: keys.live, ...env };
  const args = ['sync', 'prices.yaml', '--json', ...flags];
  const outcome = await (act === undefined
    ? runHere(args, { cwd, env: all })
    : runPricelake(args, { cwd, env: all, act }));
  expect(outcome.stdout + outcome.stderr).not.toContain(all.KEY);
  return outcome;
}

/** Answers of one path replaced. */
const replace = (path: string, answer: () => Response): Intercept => {
  return (request) => (new URL(request.url).pathname === `/api/v1${path}` ? Promise.resolve(answer()) : undefined);
};

function expectError(outcome: Outcome, exit: number, code: string, message: string | RegExp): void {
  expect({ exit: outcome.code, ...readJsonLine(outcome) }).toMatchObject({ exit, ok: false, error: { code } });
  const { error } = readJsonLine(outcome) as { error: { message: string } };
  expect(error.message).toMatch(message);
  expect(outcome.stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(outcome.stderr).toContain(`pricelake: ${error.message}`);
  expect(outcome.stderr).not.toMatch(/^\s+at /m);
}

test('prices.yaml and .env in the folder are found, and status calls the service only if requested', async () => {
  cwd = path.join(world.folder, 'found');
  await mkdir(cwd);
  const { baseUrl, keys } = world.sandbox;
  await writeFile(path.join(cwd, 'prices.yaml'), PIPELINE.replace('BASE_URL', 'ADDRESS_OF_TESTS'));
  await writeFile(path.join(cwd, '.env'), `ADDRESS_OF_TESTS=${baseUrl}\nKEY=${keys.live}\n`);
  expect(readJsonLine(await runHere(['plan', '--json'], { cwd }))).toMatchObject({ ok: true, mode: 'snapshot' });
  world.requests.length = 0;
  const status = await runHere(['status', '--json'], { cwd });
  expect(readJsonLine(status)).toMatchObject({ error: { code: 'lake_invalid' } });
  expect(world.requests).toEqual([]);
});

test('--land-only lands and reports it, and the next sync continues', async () => {
  const landed = await sync(PIPELINE, {}, undefined, '--land-only');
  expect(landed.code).toBe(0);
  expect(readJsonLine(landed)).toMatchObject({ ok: true, landed: true, run_number: 1, lake: './lake' });
  expect(landed.stdout).not.toContain('published');
  const status = async (...args: string[]) => runHere(['status', '--lake', './lake', ...args], { cwd });
  expect(readJsonLine(await status('--json'))).toMatchObject({ open: { state: 'landed', step: 'apply' } });
  expect((await status()).stdout).toMatch(
    /^run 1 \(000001-\S+\) has landed .*; the tables are\s+unchanged, and the next sync continues it at step apply$/m,
  );
  expect(readJsonLine(await resync())).toMatchObject({ ok: true, published: true, resumed: true, run_number: 1 });
});

describe('sync exits with 2 and an explanation', () => {
  test('without a pipeline file', async () => {
    cwd = world.folder;
    const named = await runHere(['sync', 'nowhere.yaml', '--json'], { cwd });
    expectError(named, 2, 'config', 'nowhere.yaml: there is no such file');
    const missing = `no pipeline file found: ${cwd} doesn't contain prices.yaml, and PRICELAKE_PIPELINE is not set`;
    expectError(await runHere(['sync', '--json'], { cwd }), 2, 'config', missing);
  });

  test.each([
    ['malformed YAML', `${PIPELINE}checks: {`, /^prices\.yaml:6:\d+: not YAML/],
    ['an unknown key', `${PIPELINE}retires: 3\n`, 'prices.yaml:6:1: the file has an unknown key'],
    ['a variable that is not set', PIPELINE.replace('KEY', 'NOPE'), 'the environment variable NOPE is not set'],
    ['an invalid address', PIPELINE.replace('${BASE_URL}', 'nowhere'), /source\.baseUrl/],
  ])('for %s', async (_name, text, message) => {
    expectError(await sync(text), 2, 'config', message);
    expect(await readdir(cwd)).toEqual(['prices.yaml']);
  });

  test('for a folder with other content, which remains untouched', async () => {
    const outcome = await sync(PIPELINE.replace('./lake', '.'));
    expectError(outcome, 2, 'lake_invalid', 'not a lake: it contains prices.yaml; nothing was changed');
    expect(await readdir(cwd)).toEqual(['prices.yaml']);
  });
});

describe('sync exits with', () => {
  test('3 if a gate check fails; the batch is held, and publishing it later costs no call', async () => {
    intercept = (request, next) =>
      new URL(request.url).pathname === '/api/v1/export'
        ? next(request).then(async (answer) => {
            const text = (await answer.text()).replaceAll(/"currency":"[A-Z]+"/g, '"currency":"XXQ"');
            return new Response(text, { headers: answer.headers });
          })
        : undefined;
    const held = await sync(`${PIPELINE}checks: {currency_iso_4217: {severity: gate}}\n`);
    expectError(held, 3, 'gate_failed', /the batch is held.*currency_iso_4217/);
    expect(await readdir(path.join(cwd, 'lake'))).toEqual(['_pricelake']);
    world.requests.length = 0;
    await writeFile(path.join(cwd, 'prices.yaml'), PIPELINE);
    expect(readJsonLine(await resync())).toMatchObject({ ok: true, published: true, resumed: true });
    expect(world.requests).toEqual([]);
  });

  test('4 for a wrong key', async () => {
    expectError(await sync(PIPELINE, { KEY: 'live_wrong_0000' }), 4, 'unauthorized', /401|key/);
  });

  test('5 when the month is used up', async () => {
    world.sandbox.changeAccount({ limits: { ratePerSecond: null, apiCallsPerMonth: 1 } });
    expectError(await sync(), 5, 'quota', "The month's allowance of 1 call is used up.");
  });

  test('6 if another run has locked the lake', async () => {
    cwd = path.join(world.folder, `cli-${++folders}`);
    await mkdir(cwd);
    await writeFile(path.join(cwd, 'prices.yaml'), PIPELINE);
    const lock = await lockLake(await openLake(path.join(cwd, 'lake'), { create: true }), testIo);
    try {
      expectError(await resync(), 6, 'lake_locked', `process ${process.pid}`);
    } finally {
      await lock.release();
    }
  });

  test('75 if the service is unavailable for long, with the time to return', async () => {
    intercept = replace('/plan', () => new Response('{}', { status: 503, headers: { 'retry-after': '3600' } }));
    const outcome = await sync();
    expectError(outcome, 75, 'unavailable', /503/);
    expect(readJsonLine(outcome)).toMatchObject({ error: { next_run_at: expect.stringMatching(/^20\d\d-.*Z$/) } });
  });

  test('1 if a response differs from the API document', async () => {
    const headers = { 'content-type': 'text/html' };
    intercept = replace('/plan', () => new Response('<html>Welcome</html>', { headers }));
    expectError(await sync(), 1, 'contract', /\/plan/);
  });

  test('143 on SIGTERM during an export; the next run continues, and the copy is exact', async () => {
    let stop: () => void = () => {};
    intercept = (request, next) => {
      if (new URL(request.url).pathname !== '/api/v1/export') return undefined;
      return next(request).then(async (answer) => {
        const bytes = new Uint8Array(await answer.arrayBuffer());
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(bytes.subarray(0, bytes.length / 2));
            await wait(100);
            stop(); // the other half never comes
          },
        });
        return new Response(body, { headers: answer.headers });
      });
    };
    const stopped = await sync(PIPELINE, {}, (child) => {
      stop = () => void child.kill('SIGTERM');
    });
    expectError(stopped, 143, 'stopped', 'stopped by SIGTERM');
    expect(stopped.stderr).toContain('Run the same command again');
    expect(await readdir(path.join(cwd, 'lake'))).toEqual(['_pricelake']);
    intercept = () => undefined;
    const outcome = await resync();
    expect(readJsonLine(outcome)).toMatchObject({ ok: true, published: true, resumed: true, tries: 2 });
    expect(await readItems(path.join(cwd, 'lake'))).toEqual(await readTruth(world.sandbox));
    await expectKeyNowhere(path.join(cwd, 'lake'));
  });
});

/** Every byte of every file is looked at. */
async function expectKeyNowhere(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(20);
  for (const entry of files) {
    const bytes = await readFile(path.join(entry.parentPath, entry.name));
    expect([entry.name, bytes.includes(world.sandbox.keys.live)]).toEqual([entry.name, false]);
  }
}

test('sync --reconcile compares a complete copy with the lake after finishing an interrupted run', async () => {
  let stopped = false;
  // The first run ends while it reads the feed.
  intercept = (request) =>
    stopped || new URL(request.url).pathname !== '/api/v1/changes' ? undefined : Promise.resolve(unauthorized());
  await sync();
  stopped = true;
  const first = await resync({}, undefined, '--reconcile');
  expect({ exit: first.code, ...readJsonLine(first) }).toMatchObject({ exit: 0, mode: 'snapshot', resumed: true });
  const second = await resync({}, undefined, '--reconcile');
  expect(readJsonLine(second)).toMatchObject({ mode: 'snapshot', resumed: false, differences: 0, gone: 0 });
});

const unauthorized = () =>
  Response.json({ status: 401, error: 'Unauthorized', message: 'no', docsUrl: 'https://x.example' }, { status: 401 });
