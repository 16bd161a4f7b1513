// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
/** `sync` with engine.spark: a stand-in for Spark fails in every way that Spark can, and the next run continues. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openWorld, readItems, readTruth } from '../run/world.js';
import { OTHER_VIEW, stubEngine } from '../workers/cluster.js';
import { type Outcome, readJsonLine, runPricelake } from './pricelake.js';

const world = await openWorld({ items: 60, sites: 2, pastDays: 2 });
afterAll(() => world.close());

const SOURCE = 'source:\n  baseUrl: ${BASE_URL}\n  apiKey: ${SPARK_KEY}\nlake:\n  path: ./lake\n';
let folders = 0;
let cwd: string;

type Engine = ReturnType<typeof stubEngine> | undefined;
type Act = NonNullable<Parameters<typeof runPricelake>[1]>['act'];

/** A first run in a folder of its own. The file's variable has a name that Spark's have. */
async function sync(engine: Engine, { act, flags = [] }: { act?: Act; flags?: string[] } = {}): Promise<Outcome> {
  cwd = path.join(world.folder, `engine-${++folders}`);
  await mkdir(cwd);
  const text = engine === undefined ? '' : `engine: ${JSON.stringify(engine)}\n`;
  await writeFile(path.join(cwd, 'prices.yaml'), SOURCE + text);
  return resync({ flags, ...(act === undefined ? {} : { act }) });
}

function resync({ act, flags = [], env = {} }: { act?: Act; flags?: string[]; env?: NodeJS.ProcessEnv } = {}) {
  const { baseUrl, keys } = world.sandbox;
  const variables = { BASE_URL: baseUrl, SPARK_KEY: keys.live, PRICELAKE_BASE_URL: baseUrl, ...env };
  const options = { cwd, env: variables, ...(act === undefined ? {} : { act }) };
  return runPricelake(['sync', 'prices.yaml', '--json', ...flags], options);
}

/** The run that failed is continued without the cluster, and nothing is asked for twice. */
async function expectContinued(): Promise<void> {
  world.requests.length = 0;
  const outcome = await resync({ flags: ['--engine', 'local'] });
  expect(readJsonLine(outcome)).toMatchObject({ ok: true, published: true, resumed: true, run_number: 1 });
  expect(world.requests.filter((url) => url.startsWith('/export'))).toEqual([]);
  expect(await readItems(path.join(cwd, 'lake'))).toEqual(await readTruth(world.sandbox));
}

const tell = (outcome: Outcome) => ({ exit: outcome.code, ...readJsonLine(outcome) });

test.each([
  ['ends in the middle', ['--play', 'die'], 'ended with exit code 1 before the work was done'],
  ['says something that is no result', ['--play', 'talk'], 'sent something else than results'],
  ['gives a task up', ['--play', 'give up'], 'Spark gave a task up'],
  ['names files that are not of the run', ['--play', 'stray'], "a worker's result of a task"],
  [
    'loses a row of a part',
    ['--once', '--play', 'drop part'],
    /task \(part\) can't be right: it has \d+ rows, and the/,
  ],
  ['loses a row of a slice', ['--once', '--play', 'drop slice'], /task \(slice\) can't be right: it has \d+ rows, and/],
  ...['products', 'product_prices', 'offers'].map((table): [string, string[], RegExp] => [
    `loses a row of ${table}`,
    ['--once', '--play', `drop slice ${table}`],
    new RegExp(`${table} counts \\d+ listings, and items \\d+`),
  ]),
])('a cluster that %s ends the run with 75, and the next one continues', async (_, options, message) => {
  const outcome = await sync(stubEngine(...options));
  expect(tell(outcome)).toMatchObject({ exit: 75, error: { code: 'unavailable' } });
  expect(outcome.stderr).toMatch(message);
  if (options.includes('die')) expect(outcome.stderr).toContain('the master is gone');
  await expectContinued();
});

test('a worker that prints something else ends the run with 75', async () => {
  const { spark } = stubEngine();
  const outcome = await sync({ spark: { ...spark, worker: ['echo'] } });
  expect(tell(outcome)).toMatchObject({ exit: 75, error: { code: 'unavailable' } });
  expect(outcome.stderr).toContain('a worker answered a task');
});

test.each([
  ['no folder', 'nowhere', 'does not see the folder'],
  ['another folder', 'other', 'has another folder as'],
])('a machine that has %s under the path of the lake is named, and makes none', async (_, name, message) => {
  const there = path.join(world.folder, name);
  await mkdir(path.join(world.folder, 'other'), { recursive: true });
  const { spark } = stubEngine();
  const here = path.join(world.folder, `engine-${folders + 1}`, 'lake');
  const worker = [process.execPath, OTHER_VIEW, here, there, ...spark.worker];
  const outcome = await sync({ spark: { ...spark, worker } });
  expect(tell(outcome)).toMatchObject({ exit: 2, error: { code: 'config' } });
  expect(outcome.stderr).toContain(`${hostname()}, a machine of the cluster, ${message} ${there}`);
  expect(existsSync(there) ? readdirSync(there) : 'none').toEqual(name === 'other' ? [] : 'none');
  await expectContinued();
});

test('an error of one task ends the others, which would run on', async () => {
  expect(tell(await sync(stubEngine('--once', '--play', 'fill up')))).toMatchObject({ error: { code: 'disk_full' } });
  await expectContinued();
});

test('workers that are lost cost time only', async () => {
  expect(tell(await sync(stubEngine('--play', 'lose')))).toMatchObject({ exit: 0, published: true });
  expect(await readItems(path.join(cwd, 'lake'))).toEqual(await readTruth(world.sandbox));
});

test('a program that is not there is a fault of the pipeline file', async () => {
  const { spark } = stubEngine();
  const outcome = await sync({ spark: { ...spark, submit: ['/nowhere/spark-submit', '--master', 'local'] } });
  const message = "engine.spark.submit: /nowhere/spark-submit can't be started: there is no such program";
  expect(tell(outcome)).toMatchObject({ exit: 2, error: { code: 'config', message } });
  const named = await sync(undefined, { flags: ['--engine', 'spark'] });
  // Few rows: nothing is worth a cluster.
  expect(tell(named)).toMatchObject({ exit: 0, published: true });
});

describe('a run that waits for a cluster ends, and so does all that it started,', () => {
  const notesOf = (name: string) => path.join(world.folder, `${name}.notes`);
  const readPid = async (file: string) => {
    while (!existsSync(file)) await wait(20);
    return (JSON.parse((await readFile(file, 'utf8')).split('\n')[0] ?? '') as { pid: number }).pid;
  };
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test.each(['hang', 'late'])('after a signal, while the cluster would %s', async (play) => {
    const notes = notesOf(play);
    const outcome = await sync(stubEngine('--play', play, '--note', notes), {
      act: (child) => void readPid(notes).then(() => setTimeout(() => child.kill('SIGTERM'), 300)),
    });
    expect(tell(outcome)).toMatchObject({ exit: 143, error: { code: 'stopped' } });
    expect(isAlive(await readPid(notes))).toBe(false);
    await expectContinued();
  });

  test('when its deadline has passed', async () => {
    const notes = notesOf('deadline');
    const outcome = await sync(stubEngine('--play', 'hang', '--note', notes), { flags: ['--deadline', '2s'] });
    expect(tell(outcome)).toMatchObject({ exit: 75, error: { code: 'deadline' } });
    // On a loaded machine the deadline passes before the cluster is asked.
    if (existsSync(notes)) expect(isAlive(await readPid(notes))).toBe(false);
    await expectContinued();
  });

  test('even if it is killed', async () => {
    const notes = notesOf('killed');
    const outcome = await sync(stubEngine('--play', 'hang', '--note', notes), {
      act: (child) => void readPid(notes).then(() => setTimeout(() => child.kill('SIGKILL'), 300)),
    });
    expect(outcome.code).toBeNull();
    const pid = await readPid(notes);
    for (let looks = 0; looks < 100 && isAlive(pid); looks++) await wait(50);
    expect(isAlive(pid)).toBe(false);
  });
});

test('no secret is on a command line, in the environment or in a task', async () => {
  const notes = path.join(world.folder, 'secrets.notes');
  await sync(undefined, { flags: ['--land-only'] });
  await writeFile(
    path.join(cwd, 'prices.yaml'),
    `${SOURCE}engine: ${JSON.stringify(stubEngine('--once', '--note', notes))}\n`,
  );
  const env = { AWS_SECRET_ACCESS_KEY: 'hush-hush', ALERT_URL: 'https://hush.example' };
  expect((await resync({ env })).code).toBe(0);
  const told = await readFile(notes, 'utf8');
  expect(told).toContain('"task"');
  expect(told).not.toContain(world.sandbox.keys.live);
  expect(told).not.toContain('hush');
});
